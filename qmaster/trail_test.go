package qmaster

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/events"
	accountingfile "github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/bus/bustest"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// crowd is a list whose lines fill several pages.
func crowd(seq uint64) events.List {
	var tasks []uint32
	for t := range uint32(200) {
		tasks = append(tasks, t+1)
	}
	return ended(seq, tasks...)
}

// fill leaves no room in a file system.
func fill(t *testing.T, dir string) (ballast string) {
	t.Helper()
	ballast = filepath.Join(dir, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 16; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return ballast
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// On a full disk records wait, whole lines stand in the file, the error is
// logged once, and sync does not report that the file is on disk. With room everything is
// there once, also in the file of who moved the full one away.
func TestAccountingOnFullDisk(t *testing.T) {
	bustest.SmallDisk(t, "1m", func(t *testing.T, dir string) {
		var said bytes.Buffer
		note := hclog.New(&hclog.LoggerOptions{Output: &said})
		path := filepath.Join(dir, "accounting")
		a, err := openAccounting(path, accountingfile.Colons, note)
		if err != nil {
			t.Fatal(err)
		}
		tell := func(l events.List) {
			t.Helper()
			a.tried = time.Time{}
			a.Apply(l)
			if err := a.flush(); err != nil {
				t.Fatal(err)
			}
		}
		lists := []events.List{crowd(1), crowd(2), crowd(3), crowd(4), crowd(5)}
		wanted := replayed(t, filepath.Join(t.TempDir(), "accounting"), lists...)
		tell(lists[0])
		ballast := fill(t, dir)
		tell(lists[1])
		tell(lists[2])
		if text := read(t, path); !strings.HasPrefix(wanted, text) || !strings.HasSuffix(text, "\n") {
			t.Errorf("the file is %d bytes that are no whole lines", len(text))
		}
		if err := a.sync(); err == nil || !strings.Contains(err.Error(), path+": no space left on device") {
			t.Errorf("on disk: %v", err)
		}
		if n := strings.Count(said.String(), "\n"); n != 1 ||
			!strings.Contains(said.String(), path+": no space left on device") {
			t.Errorf("said:\n%s", &said)
		}

		// An operator moves the file to where there is room.
		old := filepath.Join(t.TempDir(), "accounting.0")
		if err := os.WriteFile(old, []byte(read(t, path)), 0o644); err != nil {
			t.Fatal(err)
		}
		remove(t, path)
		remove(t, ballast)
		tell(lists[3])
		if err := a.sync(); err != nil || !strings.Contains(said.String(), "written again") {
			t.Errorf("on disk: %v; said:\n%s", err, &said)
		}
		tell(lists[4])
		if err := a.close(); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(read(t, path), accountingfile.Header+"# continues after record 200 of list 1\n") {
			t.Errorf("the new file begins with %.60q", read(t, path))
		}
		if records(t, old, path) != strings.TrimPrefix(wanted, accountingfile.Header) {
			t.Error("records are missing or there twice")
		}
		if before := read(t, path); replayed(t, path, lists...) != before {
			t.Error("the next start writes records again")
		}
	})
}

// The reporting file waits for room, too, also when it is to begin.
func TestReportingOnFullDisk(t *testing.T) {
	bustest.SmallDisk(t, "1m", func(t *testing.T, dir string) {
		for _, begun := range []bool{true, false} {
			var said bytes.Buffer
			path := filepath.Join(dir, map[bool]string{true: "old", false: "new"}[begun])
			r := newReporting(path, "master", hclog.New(&hclog.LoggerOptions{Output: &said}))
			st, lists := reported("reporting=true joblog=true flush_time=0")
			var jobs []events.Event // several pages of lines
			for id := range uint32(200) {
				j := &grid.Job{ID: 1000 + id, Name: "j", Owner: "alice", Spec: &grid.JobSpec{}}
				j.Ask()
				jobs = append(jobs, events.Add(j))
			}
			lists = append(lists, events.List{Seq: 7, At: 1000, Events: jobs})
			tell := func(out ...outcome) {
				t.Helper()
				r.tried = time.Time{}
				if err := r.write(out); err != nil {
					t.Fatal(err)
				}
			}
			begin := outcome{state: st.Copy()}
			if begun {
				tell(begin)
			}
			ballast := fill(t, dir)
			if !begun {
				tell(begin)
			}
			for i := range lists {
				tell(outcome{list: &lists[i]})
			}
			if err := r.sync(); err == nil || !strings.Contains(err.Error(), path+": no space left on device") {
				t.Errorf("on disk: %v", err)
			}
			if n := strings.Count(said.String(), "cannot be written"); n != 1 {
				t.Errorf("said:\n%s", &said)
			}
			remove(t, ballast)
			tell()
			if err := r.close(); err != nil {
				t.Fatal(err)
			}
			roomy := filepath.Join(t.TempDir(), "reporting")
			whole := newReporting(roomy, "master", hclog.NewNullLogger())
			again := state.New()
			again.Apply(events.List{Seq: 1, At: 1000, Events: []events.Event{events.Add(st.Conf(grid.GlobalConf))}})
			out := []outcome{{state: again}}
			for i := range lists {
				out = append(out, outcome{list: &lists[i]})
			}
			if err := whole.write(out); err != nil {
				t.Fatal(err)
			}
			if err := whole.close(); err != nil {
				t.Fatal(err)
			}
			if got, want := records(t, path), records(t, roomy); got != want || got == "" {
				t.Errorf("begun %v: %d bytes of records, want %d", begun, len(got), len(want))
			}
		}
	})
}
