package history_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
)

// TestPart: the part about a job has what reading all of the log and choosing gives, from the same state on as an
// export to a client.
func TestPart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cell")
	s := newStory(3)
	jobs := map[uint32]bool{}
	cell(t, dir, 300, 50, s, func(l events.List) {
		for i := range l.Events {
			if id := history.JobOf(&l.Events[i]); id != 0 {
				jobs[id] = true
			}
		}
	})
	log := open(t, history.Source{Dir: dir})
	states, parts := 0, 0
	for job := range uint32(20) {
		if job *= 7; !jobs[job] {
			continue
		}
		for _, from := range []uint64{0, 1, 2, 60, 133, 300} {
			for _, to := range []uint64{300, max(from, 1), 150} {
				about := history.NewAboutJob(job)
				choose := func(l events.List) (events.List, bool) {
					all := l.Events
					l.Events = nil
					for _, e := range all {
						if about.Wants(&e) {
							l.Events = append(l.Events, e)
						}
					}
					return l, about.Keeps(&l)
				}
				var got []events.List
				must(t, log.Part(job, gdi.Place{Seq: from}, to, func(l events.List) error {
					got = append(got, l)
					return nil
				}))
				begin := got[0].Seq
				if begin > max(from, 1) {
					t.Fatalf("from list %d on it begins with list %d", from, begin)
				}
				var full events.List
				for len(got) > 0 && got[0].Seq == begin {
					full.Seq, full.At, full.Events = begin, got[0].At, append(full.Events, got[0].Events...)
					got = got[1:]
				}
				if begin > 0 {
					states++
					st, err := log.Full(begin)
					must(t, err)
					want, _ := choose(st.FullList())
					if d := cmp.Diff(want, full); d != "" {
						t.Fatalf("state at list %d: %s", begin, d)
					}
				}
				var want []events.List
				for l, err := range log.Lists(begin + 1) {
					must(t, err)
					if l.Seq > to || l.Seq <= begin {
						continue
					}
					if l, ok := choose(l); ok {
						want = append(want, l)
					}
				}
				if d := cmp.Diff(want, got); d != "" && len(want)+len(got) > 0 {
					t.Fatalf("job %d from %d to %d: %s", job, from, to, d)
				}
				parts += len(got)
			}
		}
	}
	if states == 0 || parts == 0 {
		t.Errorf("%d states, %d lists", states, parts)
	}
}

// TestReleaseInPart: a job with a start time has the first list after it, also if that is about nothing of the job.
func TestReleaseInPart(t *testing.T) {
	about := history.NewAboutJob(7)
	begun := events.List{Seq: 1, At: 1000, Events: []events.Event{events.Add(&grid.Job{ID: 7, ExecTime: 5000})}}
	if !about.Keeps(&begun) || about.Keeps(&events.List{Seq: 2, At: 4000}) ||
		!about.Keeps(&events.List{Seq: 3, At: 6000}) || about.Keeps(&events.List{Seq: 4, At: 7000}) {
		t.Error("not the lists 1 and 3")
	}
}
