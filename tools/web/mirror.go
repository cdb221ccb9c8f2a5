package web

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/metrics/cellmetrics"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
	"github.com/quill-grid/quill/tools/console"
)

// Feed is where the mirror gets its events: a *client.Remote of a user.
type Feed interface {
	Watch(context.Context, client.Watcher) error
}

// mirror is the state of the cell as an event client knows it, which requests read while it follows. They get copies, made under the
// lock in microseconds, whatever the size.
type mirror struct {
	hub    *hub // these follow, too; they are called with mu held
	ledger *ledger
	past   *moments
	recent *recent
	cell   *cellmetrics.Table
	trend  *console.Trend // under mu
	loads  console.Loads  // under mu

	mu      sync.Mutex
	state   *state.State // nil before the first full state
	cluster *sched.Cluster
	frozen  *state.State  // a copy of state, as long as it is up to date
	changed chan struct{} // closed with the next list; nil: no request waits
	counter *cellmetrics.Counter
	users   *cellmetrics.Users
	began   uint64 // the list after which trend begins
	scratch []byte // of measure
	stale   error  // why no events come now; nil: they do
}

var errNotYet = errors.New("the first full state has not been received from qmaster")

func newMirror(h *hub, l *ledger, past *moments, r *recent, cell *cellmetrics.Table) *mirror {
	return &mirror{hub: h, ledger: l, past: past, recent: r, cell: cell, trend: &console.Trend{}, stale: errNotYet}
}

// follow keeps the mirror current until ctx ends. lost is called when events do not come any more, with the reason. The error is that of
// Watch: qmaster cannot be reached, or rejects the registration.
func (m *mirror) follow(ctx context.Context, f Feed, lost func(error)) error {
	var next *receiver
	return f.Watch(ctx, client.Watcher{
		Fresh: func() events.Sink {
			next = &receiver{mirror: m, state: state.New()}
			return next
		},
		Full: func(_, seq uint64) { next.full(seq) },
		Lost: func(why error) {
			m.mu.Lock()
			m.stale = why
			m.mu.Unlock()
			lost(why)
		},
	})
}

// receiver is the sink of one registration. Until the full state is there, requests are answered from the one before.
type receiver struct {
	mirror *mirror
	state  *state.State // nil when the mirror has it
}

func (r *receiver) Apply(l events.List) {
	if r.state != nil {
		r.state.Apply(l)
		return
	}
	m := r.mirror
	m.mu.Lock()
	defer m.mu.Unlock()
	size, gone := m.measure(l)
	m.hub.add(l, size, m.state)
	m.ledger.add(l)
	m.users.Before(l, m.state)
	m.state.Apply(l)
	m.users.After(m.state)
	m.counter.List(l, m.state)
	m.cell.Sequence.Set(float64(l.Seq))
	m.cluster.Apply(l)
	m.recent.add(l)
	m.past.mark(len(l.Events), gone, m.state)
	m.trend.Add(l, m.state)
	m.loads.Add(l)
	m.wake()
}

// measure returns how many bytes a list has in the log, and how many those jobs have that it removes or replaces. It is called with mu held, before the
// list is applied.
func (m *mirror) measure(l events.List) (size, gone int) {
	if cap(m.scratch) > scratchMost {
		m.scratch = nil
	}
	m.scratch = codec.AppendList(m.scratch[:0], l)
	size = len(m.scratch)
	for i := range l.Events {
		if e := &l.Events[i]; e.Kind == grid.KindJob && e.Op != events.OpAdd {
			if old := m.state.Job(e.Key.ID); old != nil {
				m.scratch = codec.AppendObject(m.scratch[:0], old)
				gone += len(m.scratch)
			}
		}
	}
	return size, gone
}

// scratchMost is how much memory for measuring is kept.
const scratchMost = 1 << 20

func (r *receiver) full(seq uint64) {
	m := r.mirror
	users := cellmetrics.NewUsers(r.state) // takes a while when there are many jobs
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state, r.state = r.state, nil
	m.state.Seq = seq
	m.users, m.counter = users, cellmetrics.NewCounter(m.cell, m.state)
	m.cluster, m.stale = sched.NewCluster(m.state), nil
	if m.began == 0 {
		m.began = seq
	}
	m.hub.restart(seq)
	m.ledger.restart(seq)
	m.past.restart()
	m.recent.restart(m.state)
	m.wake()
}

// wake lets go those that wait for a list, and forgets the copy. It is called with mu held.
func (m *mirror) wake() {
	m.frozen = nil
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
}

// moment is the cell at one Seq, for one request.
type moment struct {
	state   *state.State
	cluster *sched.Cluster
	now     grid.Time // what counts as the present
	until   grid.Time // of a moment of the past that was asked for by a time: before this time it is the same
}

func (m moment) view() *view.View { return view.New(m.state, m.cluster) }

// now returns the cell as it is. It fails before the first full state.
func (m *mirror) now() (moment, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == nil {
		return moment{}, m.stale
	}
	if m.frozen == nil {
		m.frozen = m.state.Copy()
	}
	return moment{state: m.frozen, cluster: m.cluster.Copy(m.frozen)}, nil
}

// usersNow returns what each user has now. It fails before the first full state.
func (m *mirror) usersNow() (map[string]cellmetrics.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == nil {
		return nil, m.stale
	}
	return m.users.All(), nil
}

// seq returns the number of the last list, and why none follow now.
func (m *mirror) seq() (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == nil {
		return 0, m.stale
	}
	return m.state.Seq, m.stale
}

// reach returns when the mirror has the list seq, or else after wait, or when ctx ends: false.
func (m *mirror) reach(ctx context.Context, seq uint64, wait time.Duration) bool {
	late := time.NewTimer(wait)
	defer late.Stop()
	for {
		m.mu.Lock()
		if m.state != nil && m.state.Seq >= seq {
			m.mu.Unlock()
			return true
		}
		if m.changed == nil {
			m.changed = make(chan struct{})
		}
		changed := m.changed
		m.mu.Unlock()
		select {
		case <-changed:
		case <-late.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}
