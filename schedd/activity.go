package schedd

import (
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// activity is when, since the last run began, events came on which a run could
// decide; zero times: none did.
type activity struct {
	submitted time.Time // a job was submitted or became eligible
	finished  time.Time // slots became free
	other     time.Time // a host or queue instance became available
	urgent    time.Time // the configuration changed
	silent    map[string]bool
}

// reset forgets all but the hosts that are silent.
func (s *activity) reset() { *s = activity{silent: s.silent} }

// noteConfiguration notes a change after which a run begins at once.
func (s *activity) noteConfiguration(now time.Time) { first(&s.urgent, now) }

// noteList notes the events of a list. Usage, load and the effects of starts free
// no slots and bring no job: they wait for the next interval.
func (s *activity) noteList(l events.List, now time.Time) {
	for _, e := range l.Events {
		switch e.Kind {
		case grid.KindJob:
			switch e.Op {
			case events.OpAdd, events.OpMod:
				first(&s.submitted, now)
			case events.OpDel: // with its last task, which has no event of its own
				first(&s.finished, now)
			}
		case grid.KindJATask:
			if t, ok := e.Object.(*grid.JATask); !ok || !t.HoldsSlots() {
				first(&s.finished, now)
			}
		case grid.KindLoad:
			s.noteLoad(e, now)
		case grid.KindQInstance:
			first(&s.other, now)
		default:
			if effect := grid.EffectOf(e.Kind); e.Op != events.OpList &&
				(effect == grid.EffectConfig || effect == grid.EffectOrder) {
				s.noteConfiguration(now)
			}
		}
	}
}

// noteLoad notices hosts that come (back) to life.
func (s *activity) noteLoad(e events.Event, now time.Time) {
	l, ok := e.Object.(*grid.Load)
	switch {
	case !ok:
		delete(s.silent, e.Key.Name)
	case l.Unheard:
		s.silent[l.Host] = true
	case e.Op == events.OpAdd || s.silent[l.Host]:
		delete(s.silent, l.Host)
		first(&s.other, now)
	}
}

func first(t *time.Time, now time.Time) {
	if t.IsZero() {
		*t = now
	}
}
