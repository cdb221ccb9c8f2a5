package sched

import (
	"slices"

	"github.com/quill-grid/quill/pkg/sched/diagram"
)

// Lend returns a Cluster to book on until this one follows another list or
// lends again: both share what only events change, and what a run writes lives
// in memory that serves the next run as well.
func (c *Cluster) Lend() *Cluster {
	c.catchUp()
	if c.lent == nil {
		c.lent = &Cluster{memory: &memory{}}
		c.lent.nows.token = new(byte)
	}
	d := c.lent
	was := *d
	*d = *c
	d.lent, d.memory = was.lent, was.memory
	d.memory.hosts.next, d.memory.chunks.next, d.memory.diagrams.next = 0, 0, 0
	d.nows.token, d.nows.chunks = was.nows.token, append(was.nows.chunks[:0], c.nows.chunks...)
	d.usedGlobal, d.peUsed = again(was.usedGlobal, c.usedGlobal), again(was.peUsed, c.peUsed)
	d.planned, d.guests, d.claims = c.planned.lend(was.planned), c.guests.lend(was.guests), c.claims.lend(was.claims)
	d.jobs, d.users, d.recent, d.adjusted = c.jobs.lend(), c.users.lend(), c.recent.lend(), again(was.adjusted, c.adjusted)
	d.bookedJobs = append(was.bookedJobs[:0], c.bookedJobs...)
	d.order, d.full, d.buckets, d.taken = c.order.lend(), c.full.lend(), c.buckets.lend(), c.taken.lend()
	d.mapOrder = again(was.mapOrder, c.mapOrder)
	for i := range d.mapOrder {
		d.mapOrder[i] = c.mapOrder[i].lend()
	}
	d.ars = nil
	for _, r := range c.ars {
		r = r.Lend()
		r.of = d
		d.ars = append(d.ars, r)
	}
	d.moves, d.compiled, d.sizeClasses, d.buffer, d.scratch = nil, nil, nil, was.buffer, was.scratch
	return d
}

// memory is what a lent Cluster has made to write to in earlier runs; nil of a
// Cluster that lives on its own.
type memory struct {
	hosts    pool[hostNow]
	chunks   pool[chunk[*hostNow]]
	diagrams pool[diagram.Diagram]
}

// pool is what can be used again; a nil one always makes what is asked for.
type pool[T any] struct {
	made []*T
	next int // the first that this run has not used
}

func (p *pool[T]) get() *T {
	if p == nil {
		return new(T)
	}
	if p.next == len(p.made) {
		p.made = append(p.made, new(T))
	}
	p.next++
	return p.made[p.next-1]
}

// again clones a slice into one that is not needed any more.
func again[T any](room, s []T) []T {
	if s == nil {
		return nil
	}
	return append(room[:0], s...)
}

// pages are for chunks of the hosts.
func (m *memory) pages() *pool[chunk[*hostNow]] {
	if m == nil {
		return nil
	}
	return &m.chunks
}

// host returns a copy of a host's changing part.
func (m *memory) host(n *hostNow) *hostNow {
	if m == nil {
		d := *n
		d.used, d.plans, d.ranks = slices.Clone(n.used), slices.Clone(n.plans), slices.Clone(n.ranks)
		d.guests = slices.Clone(n.guests)
		return &d
	}
	d := m.hosts.get()
	was := *d
	*d = *n
	d.used, d.plans, d.ranks = again(was.used, n.used), again(was.plans, n.plans), again(was.ranks, n.ranks)
	d.guests = again(was.guests, n.guests)
	return d
}

// diagram returns a copy of one, or an empty one.
func (m *memory) diagram(old *diagram.Diagram) *diagram.Diagram {
	if old == nil {
		old = &diagram.Diagram{}
	}
	if m == nil {
		return old.Share()
	}
	d := m.diagrams.get()
	d.Become(old)
	return d
}

// shared is a tree that a lent Cluster only reads until it first writes to it.
type shared[T interface{ Copy() T }] struct {
	rows T
	lent bool
}

func (s *shared[T]) copied() shared[T] { return shared[T]{rows: s.rows.Copy()} }
func (s *shared[T]) lend() shared[T]   { return shared[T]{rows: s.rows, lent: true} }

// own returns the tree to write to it.
func (s *shared[T]) own() T {
	if s.lent {
		s.rows, s.lent = s.rows.Copy(), false
	}
	return s.rows
}
