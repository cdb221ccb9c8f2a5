package qmaster

import (
	"os/user"
	"strconv"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
)

// accounts is who a user is: ids and primary group come from this host's
// user database, never from the request.
type accounts struct {
	mu    sync.Mutex
	known map[string]account
}

type account struct {
	uid, gid uint32
	group    string
	until    time.Time
}

// accountKept is how long an entry of the user database is cached.
const accountKept = time.Minute

// identify fills in the user of a request. Group and ids are empty for a user that this
// host's user database does not have.
func (a *accounts) identify(r *gdi.Request, name string) {
	who := a.of(name)
	r.User, r.Group, r.UID, r.GID = name, who.group, who.uid, who.gid
}

func (a *accounts) of(name string) account {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if who, ok := a.known[name]; ok && now.Before(who.until) {
		return who
	}
	who := account{until: now.Add(accountKept)}
	if u, err := user.Lookup(name); err == nil {
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		who.uid, who.gid = uint32(uid), uint32(gid)
		if g, err := user.LookupGroupId(u.Gid); err == nil {
			who.group = g.Name
		}
	}
	if a.known == nil {
		a.known = map[string]account{}
	}
	a.known[name] = who
	return who
}
