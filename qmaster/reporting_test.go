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
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// reported is a cell of which a reporting file is wanted, and lists of
// jobs.
func reported(params string) (*state.State, []events.List) {
	conf := grid.DefaultConf()
	conf.Entries = conf.Entries.With("reporting_params", params)
	st := state.New()
	st.Apply(events.List{Seq: 1, At: 1000, Events: []events.Event{events.Add(conf)}})
	var lists []events.List
	for seq := uint64(2); seq < 7; seq++ {
		l := events.List{Seq: seq, At: 1000, Cause: events.Cause{Who: "alice@h1", What: "qsub"}}
		for id := range uint32(seq % 3) {
			j := &grid.Job{ID: uint32(seq)*10 + id, Name: "j", Owner: "alice", Spec: &grid.JobSpec{}}
			j.Ask()
			l.Events = append(l.Events, events.Add(j))
		}
		lists = append(lists, l)
	}
	return st, lists
}

// records are the lines of files without comments.
func records(t *testing.T, paths ...string) string {
	t.Helper()
	var b strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "#") {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}

// Wherever a crash cuts the file, replaying the lists makes it whole: no line is
// lost, none is there twice.
func TestReportingResumes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reporting")
	st, lists := reported("reporting=true joblog=true flush_time=0")
	replay := func() {
		t.Helper()
		r, st := newReporting(path, "master", hclog.NewNullLogger()), st.Copy()
		if err := r.begin(st); err != nil {
			t.Fatal(err)
		}
		for _, l := range lists {
			if err := r.replay(st, l); err != nil {
				t.Fatal(err)
			}
			if err := r.write(nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.close(); err != nil {
			t.Fatal(err)
		}
	}
	replay()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := records(t, path)
	if n := strings.Count(want, "\n"); n != 2*(2+0+1+2+0) {
		t.Fatalf("%d lines:\n%s", n, want)
	}
	for cut := range len(whole) + 1 {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		replay()
		if got := records(t, path); got != want {
			t.Fatalf("cut at byte %d:\n%s\nwant\n%s", cut, got, want)
		}
	}
}

// A file that was moved away while qmaster was dead has its lines, and the new one
// does not have them again.
func TestReportingIsMovedAwayFromTheDead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reporting")
	st, lists := reported("reporting=true joblog=true flush_time=0")
	replay := func(lists []events.List) {
		t.Helper()
		r, st := newReporting(path, "master", hclog.NewNullLogger()), st.Copy()
		err := r.begin(st)
		for _, l := range lists {
			err = errors.Join(err, r.replay(st, l))
		}
		if err = errors.Join(err, r.close()); err != nil {
			t.Fatal(err)
		}
	}
	replay(lists)
	want := records(t, path)
	for upTo := range lists {
		os.Remove(path)
		os.Remove(filepath.Join(filepath.Dir(path), ".reporting"))
		replay(lists[:upTo])
		if err := os.Rename(path, path+".0"); err != nil {
			t.Fatal(err)
		}
		replay(lists)
		if got := records(t, path+".0", path); got != want {
			t.Fatalf("moved after %d lists:\n%s\nwant\n%s", upTo, got, want)
		}
	}
}

// Lines wait as long as flush_time says, but not after a snapshot; a file that
// was moved away is followed by a new one.
func TestReportingWaitsAndFollows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reporting")
	st, lists := reported("reporting=true flush_time=1:0:0")
	r := newReporting(path, "master", hclog.NewNullLogger())
	if err := r.write([]outcome{{seq: 1, state: st}}); err != nil {
		t.Fatal(err)
	}
	r.flushed = time.Now()
	tell := func(l events.List) {
		t.Helper()
		if err := r.write([]outcome{{seq: l.Seq, list: &l}}); err != nil {
			t.Fatal(err)
		}
	}
	tell(lists[0])
	if got := records(t, path); got != "" {
		t.Fatalf("written before its time:\n%s", got)
	}
	if err := os.Rename(path, path+".0"); err != nil {
		t.Fatal(err)
	}
	if err := r.sync(); err != nil {
		t.Fatal(err)
	}
	tell(lists[2])
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(records(t, path+".0"), "\n"); n != 2 {
		t.Errorf("%d lines in the old file", n)
	}
	if n := strings.Count(records(t, path), "\n"); n != 1 {
		t.Errorf("%d lines in the new file", n)
	}
}

// Without reporting there is no file, and nothing to be written.
func TestNoReporting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reporting")
	st, lists := reported("joblog=true")
	r := newReporting(path, "master", hclog.NewNullLogger())
	if err := r.begin(st.Copy()); err != nil {
		t.Fatal(err)
	}
	for _, l := range lists {
		if err := r.replay(st, l); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("%s is there: %v", path, err)
	}
	if st.Job(20) == nil {
		t.Error("a list was not applied")
	}
}
