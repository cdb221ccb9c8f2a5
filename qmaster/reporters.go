package qmaster

import (
	"container/list"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
)

// reporters are the execution hosts with the time of their last report, in its order: a report costs the same among
// many hosts as among few, and so does the age of the oldest.
type reporters struct {
	mu    sync.Mutex
	order list.List // of reporter, the one whose report is oldest first
	of    map[string]*list.Element
}

// reporter is a host that reports.
type reporter struct {
	host string
	last time.Time
}

// report notes a report of a host that has load values; others are noted with these.
func (r *reporters) report(host string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.of[host]; e != nil {
		e.Value = reporter{host, now}
		r.order.MoveToBack(e)
	}
}

// load notes the load object of a host.
func (r *reporters) load(l *grid.Load, now time.Time) {
	if l.Host == grid.GlobalHost {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string]*list.Element{}
	}
	if l.Unheard {
		r.forget(l.Host)
	} else if r.of[l.Host] == nil {
		r.of[l.Host] = r.order.PushBack(reporter{l.Host, now})
	}
}

// remove notes that a host has no load object any more.
func (r *reporters) remove(host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(host)
}

func (r *reporters) forget(host string) {
	if e := r.of[host]; e != nil {
		r.order.Remove(e)
	}
	delete(r.of, host)
}

// oldest returns the age of the oldest last report of the hosts that report; 0 when there is none.
func (r *reporters) oldest(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.order.Front(); e != nil {
		return now.Sub(e.Value.(reporter).last)
	}
	return 0
}
