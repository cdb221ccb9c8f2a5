package mirror

import (
	"slices"
	"sync"

	"github.com/quill-grid/quill/pkg/view"
)

const (
	// JobPagesMost pages of jobs are kept of each moment of the past, each of at most jobPageRows rows.
	JobPagesMost = 8
	jobPageRows  = 1_000
)

// JobPages are the pages of jobs of a moment of the past that were requested last. The moment does not change, so
// neither do they: a page that is requested again costs nothing for the jobs that are not on it.
type JobPages struct {
	mu   sync.Mutex
	kept []jobPage // the last one used first
}

type jobPage struct {
	query string
	rows  []*view.Job
	next  string
}

// Get returns the page of a query, and builds it if it is not kept.
func (p *JobPages) Get(query string, build func() ([]*view.Job, string, error)) ([]*view.Job, string, error) {
	if found, ok := p.findPage(query); ok {
		return found.rows, found.next, nil
	}
	rows, next, err := build()
	if err == nil && len(rows) <= jobPageRows {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.kept = append([]jobPage{{query, rows, next}}, p.kept[:min(len(p.kept), JobPagesMost-1)]...)
	}
	return rows, next, err
}

// Len returns how many pages are kept.
func (p *JobPages) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.kept)
}

func (p *JobPages) findPage(query string) (found jobPage, ok bool) {
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
