package web

import (
	"fmt"
	"slices"
	"sync"

	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
)

const (
	// jobPagesMost pages of jobs are kept of each moment of the past, each of at most jobPageRows rows.
	jobPagesMost = 8
	jobPageRows  = 1_000
)

// jobPages are the pages of jobs of a moment of the past that were requested last. The moment does not change, so neither do they: a page that is requested
// again costs nothing for the jobs that are not on it.
type jobPages struct {
	mu   sync.Mutex
	kept []jobPage // the last one used first
}

type jobPage struct {
	query string
	rows  []*view.Job
	next  string
}

// get returns the page of a query, and builds it if it is not kept.
func (p *jobPages) get(query string, build func() ([]*view.Job, string, error)) ([]*view.Job, string, error) {
	if found, ok := p.find(query); ok {
		return found.rows, found.next, nil
	}
	rows, next, err := build()
	if err == nil && len(rows) <= jobPageRows {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.kept = append([]jobPage{{query, rows, next}}, p.kept[:min(len(p.kept), jobPagesMost-1)]...)
	}
	return rows, next, err
}

func (p *jobPages) find(query string) (found jobPage, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.kept, func(one jobPage) bool { return one.query == query })
	if i < 0 {
		return found, false
	}
	found = p.kept[i]
	p.kept = slices.Insert(slices.Delete(p.kept, i, i+1), 0, found)
	return found, true
}

// pages returns the kept pages of the moment of a state, nil if it is none of the kept ones.
func (m *moments) pages(of *state.State) *jobPages {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.kept {
		if one.state == of {
			return one.pages
		}
	}
	return nil
}

// jobPage returns the rows of the page that a query asks for, which are not to be changed, and the cursor of the next one. The error is a problem.
func (s *Server) jobPage(in *jobsQuery, at moment) ([]*view.Job, string, error) {
	build := func() ([]*view.Job, string, error) { return in.page(at, nil) }
	if pages := s.moments.pages(at.state); pages != nil {
		return pages.get(in.key(at), build)
	}
	return build()
}

// key is what a page of a moment depends on.
func (in *jobsQuery) key(at moment) string {
	q := *in
	q.Reading = Reading{}
	return fmt.Sprintf("%d %#v", at.now, q)
}
