package model

import "github.com/quill-grid/quill/pkg/grid"

// standing is the position of a job and the number of its started tasks; zero without a
// job.
type standing struct {
	group, class    uint32
	started, active uint32 // tasks; active ones are not suspended
	submit          grid.Time
	pending         bool
}

func (s standing) placeOf(id uint32) Place { return Place{s.group, s.class, id, s.submit} }

// tally is the job as one of its group and class: nothing for one that is of
// none.
func (s standing) tally() (t Tally) {
	if s.group == 0 {
		return t
	}
	t.Jobs, t.Active = 1, int32(s.active)
	if s.pending {
		t.Pending = 1
	}
	if s.pending || s.started > 0 {
		t.Live = 1
	}
	return t
}

// standings are those of all jobs, by number. Job numbers lie close together,
// so that pages need half of what a map does.
type standings map[uint32]*page

const pageSize = 64

type page struct {
	used  int
	items [pageSize]standing
}

func (t standings) get(id uint32) standing {
	if p := t[id/pageSize]; p != nil {
		return p.items[id%pageSize]
	}
	return standing{}
}

// set replaces a job's standing, or removes it when it is zero.
func (t standings) set(id uint32, s standing) {
	p := t[id/pageSize]
	if p == nil {
		if s == (standing{}) {
			return
		}
		p = new(page)
		t[id/pageSize] = p
	}
	if was := &p.items[id%pageSize]; was.group == 0 && s.group != 0 {
		p.used++
	} else if was.group != 0 && s.group == 0 {
		p.used--
	}
	if p.items[id%pageSize] = s; p.used == 0 {
		delete(t, id/pageSize)
	}
}
