package execd

import (
	"os/user"
	"strconv"
	"sync"
	"time"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/execd/plan"
)

// accounts caches look-ups for a minute, those of unknown users for ten seconds.
type accounts struct {
	mu    sync.Mutex
	known map[string]account
}

type account struct {
	core.Account
	found bool
	until time.Time
}

// lookUp returns the account of a user, false when there is none.
func (l *accounts) lookUp(name string) (core.Account, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if a, ok := l.known[name]; ok && now.Before(a.until) {
		return a.Account, a.found
	}
	a := account{until: now.Add(10 * time.Second)}
	if u, err := user.Lookup(name); err == nil {
		a = account{found: true, until: now.Add(time.Minute), Account: core.Account{
			Name: u.Username, Owner: plan.Owner{UID: number(u.Uid), GID: number(u.Gid)}, Home: u.HomeDir,
		}}
		if ids, err := u.GroupIds(); err == nil {
			for _, id := range ids {
				a.Groups = append(a.Groups, number(id))
			}
		}
	}
	if l.known == nil {
		l.known = map[string]account{}
	}
	l.known[name] = a
	return a.Account, a.found
}

func number(id string) uint32 {
	n, _ := strconv.ParseUint(id, 10, 32)
	return uint32(n)
}
