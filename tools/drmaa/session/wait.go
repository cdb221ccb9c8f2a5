package session

import (
	"github.com/quill-grid/quill/pkg/grid"
)

// End is how a job ended.
type End struct {
	ID     string
	Status WaitStatus
	Usage  []string // name=value
}

// Wait waits for the end of a job of the session, or with Any of one of them, and
// forgets it: it can be waited for once. A job that never ran has no usage: the
// error is NoRusage, and the End is returned all the same.
func (s *Session) Wait(name string, seconds int64) (End, error) {
	var id jobID
	if name != Any {
		var err error
		if id, err = parseID(name); err != nil {
			return End{}, err
		}
	}
	if seconds < Forever {
		return End{}, because(InvalidArgument)
	}
	var a *grid.Accounting
	err := s.await(seconds, func(l *sessionLedger) (bool, error) {
		if name == Any {
			if len(l.jobs) == 0 {
				return false, because(InvalidJob)
			}
			if len(l.over) == 0 {
				return false, nil
			}
			id = l.over[0]
		} else if _, _, ok := l.find(id); !ok {
			return false, because(InvalidJob)
		} else if !l.ended(id) {
			return false, nil
		}
		a = l.reap(id)
		return true, nil
	})
	if err != nil {
		return End{}, err
	}
	end := End{ID: id.String(), Status: statusOf(a)}
	if a == nil {
		return end, because(NoRusage)
	}
	end.Usage = usageOf(a)
	return end, nil
}

// Synchronize waits until the jobs have ended; All stands for those that the
// session has now. With dispose they are forgotten. Jobs that are not the
// session's, or not any more, have ended.
func (s *Session) Synchronize(names []string, seconds int64, dispose bool) error {
	if seconds < Forever {
		return because(InvalidArgument)
	}
	var ids []jobID
	all := false
	for _, name := range names {
		if name == All {
			all = true
			continue
		}
		id, err := parseID(name)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	return s.await(seconds, func(l *sessionLedger) (bool, error) {
		if all {
			all = false
			for id := range l.jobs {
				ids = append(ids, jobID{job: id})
			}
		}
		for len(ids) > 0 && !dispose && l.ended(ids[len(ids)-1]) {
			ids = ids[:len(ids)-1]
		}
		for _, id := range ids {
			if !l.ended(id) {
				return false, nil
			}
		}
		if dispose {
			for _, id := range ids {
				l.dispose(id)
			}
		}
		return true, nil
	})
}
