package qmaster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/events"
	accountingfile "github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/grid"
)

// ended is a list with the records of tasks of a job that ended.
func ended(seq uint64, tasks ...uint32) events.List {
	l := events.List{Seq: seq}
	for _, t := range tasks {
		l.Events = append(l.Events, events.Add(&grid.Accounting{Job: uint32(seq), Task: t, Array: true, Owner: "alice"}))
	}
	return l
}

// replayed is the accounting file after a start that reads these lists.
func replayed(t *testing.T, path string, lists ...events.List) string {
	t.Helper()
	a, err := openAccounting(path, accountingfile.Colons, hclog.NewNullLogger())
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
	if !strings.HasPrefix(want, "# Version: 8.1.9\n") {
		t.Fatalf("the file begins otherwise:\n%s", want)
	}
	if n := strings.Count(records(t, path), "\n"); n != 6 {
		t.Fatalf("%d lines:\n%s", n, want)
	}
	for line := range strings.Lines(records(t, path)) {
		if n := strings.Count(line, ":") + 1; n != accountingfile.Fields {
			t.Fatalf("%d fields: %s", n, line)
		}
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

// A qmaster that led before wrote a line late, after what its successor had written: the
// next one adds nothing.
func TestAccountingWithLateLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounting")
	lists := []events.List{ended(1, 1), ended(2), ended(3, 1, 2, 3), ended(7, 1, 2)}
	want := replayed(t, path, lists...)
	lines := strings.SplitAfter(records(t, path), "\n")
	for late, line := range lines[1 : len(lines)-1] {
		for before := late + 2; before < len(lines); before++ {
			with := strings.TrimSuffix(want, strings.Join(lines[before:], "")) + line + strings.Join(lines[before:], "")
			if err := os.WriteFile(path, []byte(with), 0o644); err != nil {
				t.Fatal(err)
			}
			if got := replayed(t, path, lists...); got != with {
				t.Fatalf("line %d is there again before line %d:\n%s\nwant\n%s", late+1, before, got, with)
			}
		}
	}
}

// Lines that are not in the replayed lists, because a snapshot has them, stay; a
// restart without anything to replay changes nothing.
func TestAccountingKeepsWhatIsOlderThanTheSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounting")
	lists := []events.List{ended(1, 1), ended(2, 1, 2), ended(3, 1), {Seq: 4}, ended(5, 1, 2)}
	want := replayed(t, path, lists...)
	for from := range lists {
		if got := replayed(t, path, lists[from:]...); got != want {
			t.Fatalf("replayed from list %d:\n%s\nwant\n%s", from, got, want)
		}
	}
	if got := replayed(t, path); got != want {
		t.Fatalf("replayed nothing:\n%s\nwant\n%s", got, want)
	}
}

// A file that was moved away is followed by a new one, and both together have
// every record once, whatever a crash takes from the new one.
func TestAccountingIsMovedAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounting")
	a, err := openAccounting(path, accountingfile.Colons, hclog.NewNullLogger())
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
	head := accountingfile.Header + "# continues after record 2 of list 2\n"
	if n := strings.Count(records(t, path+".0"), "\n"); n != 3 {
		t.Errorf("%d lines in the old file:\n%s", n, old)
	}
	if !strings.HasPrefix(whole, head) || strings.Count(records(t, path), "\n") != 2 {
		t.Errorf("the new file:\n%s", whole)
	}
	for cut := len(head); cut < len(whole); cut++ {
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
	for cut, whole := len(accountingfile.Header), ""; cut <= max(len(whole), len(accountingfile.Header)); cut += 17 {
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
		if got, want := records(t, path+".0", path), strings.TrimPrefix(whole, accountingfile.Header); got != want {
			t.Fatalf("cut at byte %d:\n%s\nwant\n%s", cut, got, want)
		}
	}
}

// A crash may cut accounting.jsonl anywhere, too; a file that was moved away is followed by one
// that says after which record it continues, and each record is written to one file.
func TestAccountingJSONResumes(t *testing.T) {
	dir := cell.Cell{Root: t.TempDir(), Name: "default"}
	if err := os.MkdirAll(dir.Common(), 0o755); err != nil {
		t.Fatal(err)
	}
	lists := []events.List{ended(1, 1), ended(2), ended(3, 1, 2, 3), ended(7, 1, 2)}
	replay := func() string {
		f, err := openAccountingFiles(dir, hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		for n, l := range lists {
			f.of(grid.Reporting{OldFormat: n == 0}).Apply(l)
		}
		if err := f.close(); err != nil {
			t.Fatal(err)
		}
		return read(t, dir.AccountingJSON())
	}
	want := replay()
	if n := strings.Count(want, "\n"); n != 5 || strings.Count(records(t, dir.Accounting()), "\n") != 1 {
		t.Fatalf("%d lines:\n%s", n, want)
	}
	for cut := range len(want) {
		if err := os.WriteFile(dir.AccountingJSON(), []byte(want[:cut]), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := replay(); got != want {
			t.Fatalf("cut at byte %d:\n%s\nwant\n%s", cut, got, want)
		}
	}
	if err := os.Rename(dir.AccountingJSON(), dir.AccountingJSON()+".0"); err != nil {
		t.Fatal(err)
	}
	if got, want := replay(), "{\"continues_after\":{\"record\":2,\"list\":7}}\n"; got != want {
		t.Errorf("the next file: %q, want %q", got, want)
	}
}

// accounting.jsonl is made by its first record, waits while it cannot be made, and is continued by the next start.
func TestAccountingJSONIsMadeWhenUsed(t *testing.T) {
	c := newCell(t)
	if err := os.MkdirAll(filepath.Dir(c.AccountingJSON()), 0o755); err != nil {
		t.Fatal(err)
	}
	open := func() accountingFiles {
		f, err := openAccountingFiles(c, hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open()
	write := func(oldFormat bool, l events.List) {
		if err := f.write([]outcome{
			{seq: l.Seq, facts: factsOf(l), files: grid.Reporting{Accounting: true, OldFormat: oldFormat}}}); err != nil {
			t.Fatal(err)
		}
	}
	write(true, ended(1))
	write(true, ended(2, 1))
	for _, path := range []string{c.AccountingJSON(), f.json.second()} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := f.sync(); err != nil {
		t.Error(err)
	}
	if err := os.Mkdir(c.AccountingJSON(), 0o755); err != nil { // it is in the way
		t.Fatal(err)
	}
	write(false, ended(3, 1, 2))
	if err := f.sync(); err == nil {
		t.Error("records wait to be written, and a snapshot may be taken")
	}
	if err := os.Remove(c.AccountingJSON()); err != nil {
		t.Fatal(err)
	}
	f.json.tried = time.Time{} // a second later
	write(false, ended(4, 1))
	if err := errors.Join(f.sync(), f.close()); err != nil {
		t.Error(err)
	}
	f = open()
	if f.json.absent {
		t.Error("the file is not found")
	}
	write(false, ended(5, 1))
	if err := f.close(); err != nil {
		t.Error(err)
	}
	if n := strings.Count(read(t, c.AccountingJSON()), `"job_number"`); n != 4 {
		t.Errorf("%d records:\n%s", n, read(t, c.AccountingJSON()))
	}
}
