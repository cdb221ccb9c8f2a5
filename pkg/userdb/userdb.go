package userdb

import (
	"errors"
	"os/user"
	"sync"
	"time"
)

// How long entries are served without another look-up: of accounts, and of names without one, which may be added any
// time.
const (
	Kept        = time.Minute
	UnknownKept = 10 * time.Second
)

// ErrSlow is the error of an entry that was never seen and that the database has not returned in time. The look-up
// continues, and a later Get finds its answer.
var ErrSlow = errors.New("the user database does not answer")

// Cache is the entries that were asked for, by name or id. Look and Patience are set before it is used; all goroutines
// may use it.
type Cache[K comparable, V any] struct {
	Look     func(K) (V, error) // with the errors of os/user
	Patience time.Duration      // how long Get waits for Look

	mu      sync.Mutex
	entries map[K]*entry[V]
}

type entry[V any] struct {
	value   V
	err     error
	until   time.Time
	known   bool          // value and err were returned by Look
	looking chan struct{} // closed when the look-up under way has ended; nil: none is
}

// Get returns an entry, the error of Look, or ErrSlow. An entry that was found stays what it was while Look fails
// otherwise than because there is none.
func (c *Cache[K, V]) Get(key K) (V, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		if c.entries == nil {
			c.entries = make(map[K]*entry[V])
		}
		e = &entry[V]{}
		c.entries[key] = e
	}
	if !e.known || time.Now().After(e.until) {
		if e.looking == nil {
			e.looking = make(chan struct{})
			go c.lookUp(key, e)
		}
		c.wait(e.looking)
	}
	if !e.known {
		return e.value, ErrSlow
	}
	return e.value, e.err
}

// wait waits for a look-up. It is called with mu held, and unlocks it meanwhile.
func (c *Cache[K, V]) wait(looking <-chan struct{}) {
	c.mu.Unlock()
	defer c.mu.Lock()
	patience := time.NewTimer(c.Patience)
	defer patience.Stop()
	select {
	case <-looking:
	case <-patience.C:
	}
}

func (c *Cache[K, V]) lookUp(key K, e *entry[V]) {
	value, err := c.Look(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	e.until = time.Now().Add(Kept)
	if err != nil {
		e.until = time.Now().Add(UnknownKept)
	}
	if err == nil || NoEntry(err) || !e.known {
		e.value, e.err, e.known = value, err, true
	}
	close(e.looking)
	e.looking = nil
}

// NoEntry reports whether an error of Look is the answer of the database that there is no such entry; else the database
// has failed.
func NoEntry(err error) bool {
	var name user.UnknownUserError
	var id user.UnknownUserIdError
	return errors.As(err, &name) || errors.As(err, &id)
}
