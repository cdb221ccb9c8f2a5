package qmaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// mirror stores everything it receives and checks that nothing is missing.
type mirror struct {
	t     *testing.T
	mu    sync.Mutex
	moved sync.Cond
	state *state.State
	full  bool
	times int     // registrations
	lost  []error // why it registered again
	slow  chan struct{}
}

func newMirror(t *testing.T) *mirror {
	m := &mirror{t: t}
	m.moved.L = &m.mu
	return m
}

func (m *mirror) watcher() client.Watcher {
	return client.Watcher{
		Fresh: func() events.Sink {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.state, m.full = state.New(), false
			m.times++
			return m
		},
		Full: func(_, seq uint64) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.full = true
			if m.state.Seq != seq {
				m.t.Errorf("full state at %d said to be at %d", m.state.Seq, seq)
			}
			m.moved.Broadcast()
		},
		Lost: func(why error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.lost = append(m.lost, why)
		},
	}
}

func (m *mirror) Apply(l events.List) {
	if m.slow != nil {
		<-m.slow
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full && l.Seq != m.state.Seq+1 {
		m.t.Errorf("list %d after %d", l.Seq, m.state.Seq)
	}
	m.state.Apply(l)
	m.moved.Broadcast()
}

// until waits for the mirror to have reached seq and returns all it knows.
func (m *mirror) until(seq uint64) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	for !m.full || m.state.Seq < seq {
		m.moved.Wait()
	}
	return bytesOf(m.state)
}

func (m *mirror) seq() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Seq
}

func bytesOf(s *state.State) (out []byte) {
	s.Full(func(e events.Event) bool {
		out = codec.AppendObject(out, e.Object)
		return true
	})
	return out
}

// watch runs a mirror until the test is over.
func watch(t *testing.T, q *QMaster, id bus.Identity, m *mirror) {
	r := q.Remote(id)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := r.Watch(ctx, m.watcher()); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}()
	t.Cleanup(func() { cancel(); <-done; r.Close() })
}

// Forty event clients register while jobs are submitted; each ends with the
// very state that qmaster has, users without what is private. There is an end to
// the jobs: a state that grows as fast as it is sent would never be received.
func TestRegisterUnderLoad(t *testing.T) {
	cell := newCell(t)
	q := start(t, Options{Cell: cell})
	t.Cleanup(func() { stop(t, q) })
	enough, submitted := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(submitted)
		var four sync.WaitGroup
		for n := range 4 {
			c := connect(t, cell)
			four.Go(func() {
				for i := range 500 {
					select {
					case <-enough:
						return
					default:
						submitJob(t, c, fmt.Sprintf("s%d.%d", n, i))
					}
				}
			})
		}
		four.Wait()
	}()
	mirrors := make([]*mirror, 40)
	for i := range mirrors {
		mirrors[i] = newMirror(t)
		id := bus.Identity{Role: bus.Admin, Name: fmt.Sprint("a", i)}
		if i%10 == 0 {
			id.Role = bus.User
		}
		watch(t, q, id, mirrors[i])
	}
	for _, m := range mirrors {
		m.until(0)
	}
	close(enough)
	<-submitted
	s, err := q.durable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	private, public := bytesOf(s), publicBytes(s)
	for i, m := range mirrors {
		want := private
		if i%10 == 0 {
			want = public
		}
		if got := m.until(s.Seq); string(got) != string(want) {
			t.Errorf("client %d has another state: %d bytes, want %d", i, len(got), len(want))
		}
		busy := func(why error) bool { return errors.Is(why, bus.ErrLost) } // the machine: it has to register again
		if cut := len(m.lost) - len(slices.DeleteFunc(slices.Clone(m.lost), busy)); m.times != 1+cut {
			t.Errorf("client %d registered %d times: %v", i, m.times, m.lost)
		}
	}
	t.Logf("%d lists", s.Seq)
}

func publicBytes(s *state.State) (out []byte) {
	s.Full(func(e events.Event) bool {
		out = codec.AppendObject(out, grid.Public(e.Object))
		return true
	})
	return out
}

// schedulable is what a scheduler is sent of a state: jobs without Spec, no
// receipts.
func schedulable(s *state.State) (out []byte) {
	s.Full(func(e events.Event) bool {
		switch o := e.Object.(type) {
		case *grid.Receipt:
		case *grid.Job:
			j := *o
			j.Spec = nil
			out = codec.AppendObject(out, &j)
		default:
			out = codec.AppendObject(out, o)
		}
		return true
	})
	return out
}

// When qmaster is replaced its watchers register again, under the new epoch.
func TestWatchAcrossRestart(t *testing.T) {
	cell := newCell(t)
	q := start(t, Options{Cell: cell})
	submitJob(t, connect(t, cell), "before")
	m := newMirror(t)
	r, err := client.ConnectScheduler(context.Background(), cell, "s")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- r.Watch(ctx, m.watcher()) }()
	m.until(0)
	stop(t, q)
	q = start(t, Options{Cell: cell})
	defer stop(t, q)
	submitJob(t, connect(t, cell), "after")
	s, _ := q.durable(context.Background())
	m.until(s.Seq)
	m.mu.Lock()
	if string(schedulable(m.state)) != string(schedulable(s)) {
		t.Error("the mirror has another state")
	}
	m.mu.Unlock()
	if m.times < 2 {
		t.Error("it has not registered again")
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	r.Close()
}

// A client that stops reading does not hold up anybody else: the answer that it
// does not take is given up, the others continue.
func TestSlowClient(t *testing.T) {
	cell := newCell(t)
	q := start(t, Options{Cell: cell})
	t.Cleanup(func() { stop(t, q) })
	c := connect(t, cell)
	for i := range 3000 {
		submitJob(t, c, fmt.Sprint("j", i))
	}
	m := newMirror(t)
	m.slow = make(chan struct{})
	watch(t, q, bus.Identity{Role: bus.Admin, Name: "slow"}, m)
	t.Cleanup(func() { close(m.slow) }) // before the watch ends

	slow := connect(t, cell)
	held, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		first := true
		_, err := slow.Get(context.Background(), gdi.Get{Kinds: []grid.Kind{grid.KindJob}}, func(grid.Object) error {
			if first {
				first = false
				<-held
			}
			return nil
		})
		stopped <- err
	}()
	begun := time.Now()
	for i := range 100 {
		submitJob(t, c, fmt.Sprint("k", i))
	}
	if n := len(jobs(t, c)); n != 3100 {
		t.Errorf("%d jobs", n)
	}
	t.Logf("100 submits and a listing beside two slow clients: %s", time.Since(begun))
	close(held)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
