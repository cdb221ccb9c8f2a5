package qmaster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/events"
	accountingfile "github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/grid"
)

// ended is a list that tells how tasks of a job ended.
func ended(seq uint64, tasks ...uint32) events.List {
	l := events.List{Seq: seq}
	for _, t := range tasks {
		l.Events = append(l.Events, events.Add(&grid.Accounting{Job: uint32(seq), Task: t, Owner: "alice"}))
	}
	return l
}

// replayed is the accounting file after a start that reads these lists.
func replayed(t *testing.T, path string, lists ...events.List) string {
	t.Helper()
	a, err := openAccounting(path, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lists {
		a.Apply(l)
	}
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

// Wherever a crash cuts the file, replaying the lists makes it whole: no record
// is lost, none is there twice.
func TestAccountingResumes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounting")
	lists := []events.List{ended(1, 1), ended(2), ended(3, 1, 2, 3), ended(7, 1, 2)}
	want := replayed(t, path, lists...)
	if n := strings.Count(want, "\n"); n != 6 {
		t.Fatalf("%d lines:\n%s", n, want)
	}
	for cut := range len(want) {
		if err := os.WriteFile(path, []byte(want[:cut]), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := replayed(t, path, lists...); got != want {
			t.Fatalf("cut at byte %d:\n%s\nwant\n%s", cut, got, want)
		}
	}
}

// A last list with more lines than are looked at first is counted whole.
func TestAccountingManyLinesOfOneList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounting")
	text := accountingfile.AppendLine(nil, &grid.Accounting{Job: 1, Owner: "alice"}, 1)
	const n = 5000
	for task := range uint32(n) {
		text = accountingfile.AppendLine(text, &grid.Accounting{Job: 2, Task: task, Owner: "alice"}, 2)
	}
	if len(text) < 2*tailBytes {
		t.Fatalf("only %d bytes", len(text))
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := openAccounting(path, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	if a.seq != 2 || a.have != n {
		t.Errorf("list %d has %d lines, want list 2 with %d", a.seq, a.have, n)
	}
}

// A file that was moved away is followed by a new one, and both together have
// every record once, whatever a crash takes from the new one.
func TestAccountingIsMovedAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounting")
	a, err := openAccounting(path, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	first, second := ended(1, 1), ended(2, 1, 2)
	tell := func(l events.List) {
		t.Helper()
		a.looked = time.Time{}
		a.Apply(l)
		if err := a.flush(); err != nil {
			t.Fatal(err)
		}
	}
	tell(first)
	if err := os.Rename(path, path+".0"); err != nil {
		t.Fatal(err)
	}
	tell(second) // still goes to the old file
	third := ended(3, 1, 2)
	tell(third)
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	old, whole := read(t, path+".0"), read(t, path)
	if n := strings.Count(old, "\n"); n != 3 {
		t.Errorf("%d lines in the old file:\n%s", n, old)
	}
	if !strings.HasPrefix(whole, "# continues after record 2 of list 2\n") || strings.Count(whole, "\n") != 3 {
		t.Errorf("the new file:\n%s", whole)
	}
	for cut := strings.Index(whole, "\n") + 1; cut < len(whole); cut++ {
		if err := os.WriteFile(path, []byte(whole[:cut]), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := replayed(t, path, first, second, third); got != whole {
			t.Fatalf("cut at byte %d:\n%s\nwant\n%s", cut, got, whole)
		}
	}
}

// A file that was moved away while qmaster was dead has its records, and the new
// one does not have them again, wherever the crash has cut the old one.
func TestAccountingIsMovedAwayFromTheDead(t *testing.T) {
	lists := []events.List{ended(1, 1), ended(2, 1, 2), ended(3, 1, 2)}
	for cut, whole := 0, ""; cut <= len(whole); cut += 17 {
		path := filepath.Join(t.TempDir(), "accounting")
		whole = replayed(t, path, lists...)
		if err := os.Truncate(path, int64(cut)); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path, path+".0"); err != nil {
			t.Fatal(err)
		}
		replayed(t, path, lists...)
		replayed(t, path, lists...)
		if got := records(t, path+".0", path); got != whole {
			t.Fatalf("cut at byte %d:\n%s\nwant\n%s", cut, got, whole)
		}
	}
}
