package fair

import (
	"cmp"
	"context"
	"fmt"
	"sync"
)

// Limits are the bounds of what is in use at a time, in any unit.
type Limits struct {
	Total   int // of all
	User    int // of one user; 0: Total
	Reserve int // of Total, for daemons only
	Daemon  int // of one daemon; 0: Total
	Waiting int // requests of one user that may wait for it; 0: they do not wait
}

// Places are what users may have in use at a time: processes, connections, bytes. Several goroutines may use them.
type Places struct {
	Limits

	mu      sync.Mutex
	all     int
	users   int // of all, in use by users, not daemons
	of      map[User]int
	waiting Queue[*claim]
}

// claim is what waits for a place.
type claim struct {
	n     int
	begin func(leave func())
}

// Full is why there is no place.
type Full struct {
	Own  bool // the bound of the user, not that of all
	Most int  // that bound
}

func (f *Full) Error() string {
	if f.Own {
		return fmt.Sprintf("too many of this user (at most %d)", f.Most)
	}
	return fmt.Sprintf("too many (at most %d)", f.Most)
}

// NewPlaces returns places that are free. The name is that of their row in the table of the manual, security.md.
func NewPlaces(name string, l Limits) *Places {
	if l.Total <= l.Reserve {
		panic(fmt.Sprintf("%s: %d places, of which %d are reserved", name, l.Total, l.Reserve))
	}
	if l.User == 0 {
		l.User = l.Total
	}
	if l.Daemon == 0 {
		l.Daemon = l.Total
	}
	return &Places{Limits: l, of: make(map[User]int)}
}

// most returns how much of all one user or daemon may have, and how much users or daemons may have together.
func (p *Places) most(who User) (own, together int) {
	if who.Daemon {
		return p.Daemon, p.Total
	}
	return min(p.User, p.Total-p.Reserve), p.Total - p.Reserve
}

// room returns nil if n more are free for a user.
func (p *Places) room(who User, n int) *Full {
	own, together := p.most(who)
	switch {
	case p.of[who]+n > own:
		return &Full{Own: true, Most: own}
	case p.all+n > p.Total, !who.Daemon && p.users+n > together:
		return &Full{Most: p.Total}
	}
	return nil
}

func (p *Places) count(who User, n int) {
	p.all += n
	if !who.Daemon {
		p.users += n
	}
	if p.of[who] += n; p.of[who] == 0 {
		delete(p.of, who)
	}
}

// Enter takes n at once, or fails with Full. Leave gives them back.
func (p *Places) Enter(who User, n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if full := p.room(who, n); full != nil {
		return full
	}
	p.count(who, n)
	return nil
}

// Leave gives n back, for those whose turn it is.
func (p *Places) Leave(who User, n int) {
	p.mu.Lock()
	p.count(who, -n)
	begin := p.next()
	p.mu.Unlock()
	callAll(begin)
}

// next takes places for what waits, in turns, and returns what begins it. It is called with mu held.
func (p *Places) next() (begin []func()) {
	for {
		short := false // of the places of all: what is due does not let others pass
		who, c, ok := p.waiting.NextOf(func(who User, n int) bool {
			full := p.room(who, n)
			short = short || full != nil && !full.Own
			return full == nil && (!short || who.Daemon)
		})
		if !ok {
			return begin
		}
		p.count(who, c.n)
		begin = append(begin, func() { c.begin(sync.OnceFunc(func() { p.Leave(who, c.n) })) })
	}
}

// Join takes n, or as much as one user may have if that is less, when it is the user's turn: begin is called then,
// perhaps at once, with what gives them back. begin must not block. cancel takes a request that waits out of the queue;
// false: begin was or will be called. Join fails with Full if too many requests of the user wait.
func (p *Places) Join(who User, n int, begin func(leave func())) (cancel func() bool, err error) {
	p.mu.Lock()
	own, _ := p.most(who)
	c := &claim{min(n, own), begin}
	if waiting, _ := p.waiting.Of(who); waiting >= p.Waiting {
		if full := p.room(who, c.n); waiting > 0 || full != nil {
			p.mu.Unlock()
			return nil, cmp.Or(full, &Full{Own: true, Most: p.Waiting})
		}
	}
	p.waiting.Put(who, c, c.n)
	ready := p.next()
	p.mu.Unlock()
	callAll(ready)
	return func() bool {
		p.mu.Lock()
		removed := p.waiting.Remove(who, func(other *claim) bool { return other == c })
		ready := p.next() // it may have been in the way
		p.mu.Unlock()
		callAll(ready)
		return removed
	}, nil
}

func callAll(all []func()) {
	for _, f := range all {
		f()
	}
}

// Wait is Join for a goroutine that waits itself. It fails with Full, or with the error of ctx.
func (p *Places) Wait(ctx context.Context, who User, n int) (leave func(), err error) {
	turn := make(chan func(), 1)
	cancel, err := p.Join(who, n, func(leave func()) { turn <- leave })
	if err != nil {
		return nil, err
	}
	select {
	case leave = <-turn: // also when ctx has ended
		return leave, nil
	default:
	}
	select {
	case leave = <-turn:
		return leave, nil
	case <-ctx.Done():
		if !cancel() {
			(<-turn)()
		}
		return nil, ctx.Err()
	}
}

// Count returns how many are in use.
func (p *Places) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}

// Of returns how many a user has in use.
func (p *Places) Of(who User) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.of[who]
}

// Queued returns how many requests wait.
func (p *Places) Queued() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting.Len()
}
