package mirror

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
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
)

// Feed is where the mirror gets its events: a *client.Remote of a user.
type Feed interface {
	Watch(context.Context, client.Watcher) error
}

// Follower keeps something of the event lists. It is called with the mirror's lock held, in the order of the lists, so
// it must not call the mirror.
type Follower interface {
	// Follow takes a list.
	Follow(*Update)
	// Restart is called after a full state: lists may have been missed. The state may be read during the call only.
	Restart(*state.State)
}

// Update is an event list for followers.
type Update struct {
	List  events.List
	State *state.State // before the list for the Hub, after it for the others; may be read during the call only
	Size  int          // bytes of the list, as the log has it
	Gone  int          // bytes of the jobs that the list removes or replaces, likewise
}

// Mirror is the state of the cell as an event client knows it, which requests read while it follows. They get copies,
// made under the lock in microseconds, whatever the size.
type Mirror struct {
	// The followers, set by New.
	Hub     *Hub     // the last lists, for streams of events
	Ledger  *Ledger  // the last accounting records
	Recent  *Recent  // the last lists, by job
	Moments *Moments // states of the past
	Charts  *Charts  // counts and loads over time
	after   []Follower

	cell *cellmetrics.Table // set by New

	// The fields below are written by the receiver of the last registration, but for frozen and changed.
	mu      sync.Mutex
	state   *state.State         // nil before the first full state; then always that after the last list
	cluster *sched.Cluster       // of state
	counter *cellmetrics.Counter // of state
	users   *cellmetrics.Users   // of state
	scratch []byte               // of measure
	stale   error                // why no events come now; nil: they do
	frozen  *state.State         // a copy of state, nil when it is out of date; made by Now
	changed chan struct{}        // closed with the next list; nil: no request waits; made by WaitFor
}

var errNotYet = errors.New("the first full state has not been received from qmaster")

// New returns a mirror that follows nothing yet. cell gets the metrics of the cell.
func New(cell *cellmetrics.Table) *Mirror {
	m := &Mirror{Hub: NewHub(), Ledger: NewLedger(), Recent: NewRecent(StretchEvents), Moments: NewMoments(),
		Charts: &Charts{}, cell: cell, stale: errNotYet}
	m.after = []Follower{m.Ledger, m.Recent, m.Moments, m.Charts}
	return m
}

// Follow keeps the mirror current until ctx ends. lost is called when events do not come any more, with the reason. The
// error is that of Watch: qmaster cannot be reached, or rejects the registration.
func (m *Mirror) Follow(ctx context.Context, f Feed, lost func(error)) error {
	var next *receiver
	return f.Watch(ctx, client.Watcher{
		Fresh: func() events.Sink {
			next = &receiver{mirror: m, state: state.New()}
			return next
		},
		Full: func(_, seq uint64) { next.complete(seq) },
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
	mirror *Mirror
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
	u := &Update{List: l, State: m.state}
	u.Size, u.Gone = m.measure(l)
	m.Hub.Follow(u)
	m.users.Before(l, m.state)
	m.state.Apply(l)
	m.users.After(m.state)
	m.counter.List(l, m.state)
	m.cell.Sequence.Set(float64(l.Seq))
	m.cluster.Apply(l)
	for _, f := range m.after {
		f.Follow(u)
	}
	m.wakeWaiting()
}

// measure returns how many bytes a list has in the log, and how many those jobs have that it removes or replaces. It is
// called with mu held, before the list is applied.
func (m *Mirror) measure(l events.List) (size, gone int) {
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

// complete gives the mirror the full state, which is that after the list seq.
func (r *receiver) complete(seq uint64) {
	m := r.mirror
	users := cellmetrics.NewUsers(r.state) // takes a while when there are many jobs
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state, r.state = r.state, nil
	m.state.Seq = seq
	m.users, m.counter = users, cellmetrics.NewCounter(m.cell, m.state)
	m.cluster, m.stale = sched.NewCluster(m.state), nil
	m.Hub.Restart(m.state)
	for _, f := range m.after {
		f.Restart(m.state)
	}
	m.wakeWaiting()
}

// wakeWaiting ends the waiting for a list, and forgets the copy. It is called with mu held.
func (m *Mirror) wakeWaiting() {
	m.frozen = nil
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
}

// Moment is the cell at one Seq, for one request.
type Moment struct {
	State   *state.State
	Cluster *sched.Cluster
	Now     grid.Time // what counts as the present
	Until   grid.Time // of a moment of the past that was asked for by a time: before this time it is the same
}

// View returns what listings of the moment are made of.
func (m Moment) View() *view.View { return view.New(m.State, m.Cluster) }

// Now returns the cell as it is. It fails before the first full state.
func (m *Mirror) Now() (Moment, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == nil {
		return Moment{}, m.stale
	}
	if m.frozen == nil {
		m.frozen = m.state.Copy()
	}
	return Moment{State: m.frozen, Cluster: m.cluster.Copy(m.frozen)}, nil
}

// Users returns what each user has now. It fails before the first full state.
func (m *Mirror) Users() (map[string]cellmetrics.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == nil {
		return nil, m.stale
	}
	return m.users.All(), nil
}

// Waiting returns how many jobs wait, by the first reason. It fails before the first full state.
func (m *Mirror) Waiting() (map[reason.Code]int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == nil {
		return nil, m.stale
	}
	out := map[reason.Code]int{}
	for _, why := range view.WaitCodes {
		out[why] = m.users.Waiting(why)
	}
	return out, nil
}

// Seq returns the number of the last list, and why none follow now.
func (m *Mirror) Seq() (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == nil {
		return 0, m.stale
	}
	return m.state.Seq, m.stale
}

// WaitFor returns when the mirror has the list seq, or else after wait, or when ctx ends: false.
func (m *Mirror) WaitFor(ctx context.Context, seq uint64, wait time.Duration) bool {
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
