package history

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// IsFrame reports whether objects of a kind are needed to say why any job waits: the configuration, and what the
// scheduler reports.
func IsFrame(k grid.Kind) bool {
	return k == grid.KindJobScheddInfo || grid.EffectOf(k) == grid.EffectConfig
}

// JobOf returns the job that an event is about, 0: none.
func JobOf(e *events.Event) uint32 {
	switch e.Kind {
	case grid.KindJob, grid.KindJATask, grid.KindAccounting:
		return e.Key.ID
	}
	return 0
}

// AboutJob chooses what the log has about one job: events of it and of IsFrame kinds, in the lists that have any, and
// the first list that is not before the job's start time (-a).
type AboutJob struct {
	job     uint32
	release grid.Time // the start time, until it has passed; 0: none
}

// NewAboutJob returns what chooses from the lists of a log, in order, what is about a job.
func NewAboutJob(job uint32) *AboutJob { return &AboutJob{job: job} }

// Wants reports whether an event, of which the object may be missing, is chosen.
func (p *AboutJob) Wants(e *events.Event) bool { return JobOf(e) == p.job || IsFrame(e.Kind) }

// Keeps reports whether a list of chosen events is chosen, and takes out of its events which other jobs scheduling info
// is about. It is called with each list of a log that may be.
func (p *AboutJob) Keeps(l *events.List) bool {
	passed := p.release > 0 && l.At >= p.release
	if passed {
		p.release = 0
	}
	for i, e := range l.Events {
		switch o := e.Object.(type) {
		case *grid.Job:
			if p.release = o.ExecTime; p.release <= l.At {
				p.release = 0
			}
		case *grid.JobScheddInfo:
			if len(o.Jobs) > 0 {
				about := *o
				if about.Jobs = nil; slices.Contains(o.Jobs, p.job) {
					about.Jobs = []uint32{p.job}
				}
				l.Events[i].Object = &about
			}
		}
	}
	return passed || len(l.Events) > 0
}

// mayHave reports whether lists in a payload may have anything that is chosen.
func (p *AboutJob) mayHave(payload []byte) bool {
	return p.release > 0 || codec.MayHave(payload, p.Wants)
}

// Part calls each with what the log has about one job, from a state not later than a place up to the list to: first
// the state, as lists of LIST events that all have its Seq, at least one; then the event lists. Both have only what
// AboutJob chooses. If the log begins with the cell there is no state: its Seq is 0.
//
// Damage is an error, as others.
func (l *Log) Part(job uint32, from gdi.Place, to uint64, each func(events.List) error) error {
	begin, err := l.At(from)
	if err != nil {
		return err
	}
	p := NewAboutJob(job)
	after := uint64(0)
	if begin > 1 || !l.begins() {
		if after, err = l.partState(p, max(begin, l.first.Seq), each); err != nil {
			return err
		}
	} else if err := each(events.List{At: l.first.At}); err != nil {
		return err
	}
	if after >= to {
		return nil
	}
	var dec codec.Decoder
	err = decodeFrames(l.framesBetween(after+1, to), func(payload []byte, each func(events.List) error) error {
		if !p.mayHave(payload) {
			return nil
		}
		return dec.Select(payload, p.Wants, func(list events.List) error {
			if list.Seq <= after || list.Seq > to || !p.Keeps(&list) {
				return nil
			}
			return each(list)
		})
	}, each)
	if err == errStopped {
		return nil
	}
	return err
}

// partState calls each with what the newest good state not later than a Seq has, and returns its Seq.
func (l *Log) partState(p *AboutJob, seq uint64, each func(events.List) error) (uint64, error) {
	var why error
	for at := range l.statesUntil(seq) {
		var lists []events.List
		var dec codec.Decoder
		_, err := at.scan(func(chunk []byte) error {
			if len(lists) > 0 && !p.mayHave(chunk) {
				return nil
			}
			return dec.Select(chunk, p.Wants, func(list events.List) error {
				if len(lists) == 0 || len(list.Events) > 0 {
					p.Keeps(&list)
					lists = append(lists, list)
				}
				return nil
			})
		})
		if err != nil || len(lists) == 0 {
			why = cmp.Or(why, fmt.Errorf("%s: state at list %d: %w", l.from, at.seq, cmp.Or(err, ErrNothing)))
			continue
		}
		for _, list := range lists {
			if err := each(list); err != nil {
				return 0, err
			}
		}
		return lists[0].Seq, nil
	}
	if l.begins() {
		return 0, each(events.List{At: l.first.At})
	}
	return 0, cmp.Or(why, fmt.Errorf("%s begins at list %d", l.from, l.first.Seq))
}
