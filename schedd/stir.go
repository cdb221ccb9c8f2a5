package schedd

import (
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// stir is when, since the last run began, something happened that a run could
// decide on; zero times: nothing did.
type stir struct {
	submitted time.Time // a job came, or may be looked at now
	finished  time.Time // something became free
	other     time.Time // a host came back
	urgent    time.Time // the configuration changed
	silent    map[string]bool
}

// reset begins to look anew; which hosts are silent stays known.
func (s *stir) reset() { *s = stir{silent: s.silent} }

func (s *stir) anything(now time.Time) { first(&s.urgent, now) }

// see notes what a list says. Usage, load and what follows from starts free
// nothing and bring nothing to start: they wait for the next interval.
func (s *stir) see(l events.List, now time.Time) {
	for _, e := range l.Events {
		switch e.Kind {
		case grid.KindJob:
			switch e.Op {
			case events.OpAdd, events.OpMod:
				first(&s.submitted, now)
			case events.OpDel: // with its last task, of which nothing else is told
				first(&s.finished, now)
			}
		case grid.KindJATask:
			if t, ok := e.Object.(*grid.JATask); !ok || !t.HoldsSlots() {
				first(&s.finished, now)
			}
		case grid.KindLoad:
			s.seeLoad(e, now)
		case grid.KindQInstance:
			first(&s.other, now)
		default:
			if effect := grid.EffectOf(e.Kind); e.Op != events.OpList && (effect == grid.EffectConfig || effect == grid.EffectOrder) {
				s.anything(now)
			}
		}
	}
}

// seeLoad notices hosts that come (back) to life.
func (s *stir) seeLoad(e events.Event, now time.Time) {
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
