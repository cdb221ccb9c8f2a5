package qmaster

import (
	"errors"
	"strconv"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/userdb"
)

// accountWait is how long the requests of all may wait for an account that was not seen before.
const accountWait = 50 * time.Millisecond

// accounts are the ids and groups of users: they come from this host's user database, never from
// the request.
type accounts struct {
	userdb.Cache[string, account]
}

type account struct {
	uid, gid uint32
	group    string
}

func newAccounts() *accounts {
	return &accounts{userdb.Cache[string, account]{Look: lookUpAccount, Patience: accountWait}}
}

// identify fills in the user of a request. Group and ids are empty for a user that this
// host's user database does not have. It returns false when the database does not answer: the
// request is to be repeated.
func (a *accounts) identify(r *gdi.Request, name string) bool {
	who, err := a.Get(name)
	r.User, r.Group, r.UID, r.GID = name, who.group, who.uid, who.gid
	return !errors.Is(err, userdb.ErrSlow)
}

func lookUpAccount(name string) (account, error) {
	u, err := userdb.Lookup(name)
	if err != nil {
		return account{}, err
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	who := account{uid: uint32(uid), gid: uint32(gid)}
	if group, err := userdb.GroupName(u.Gid); err == nil {
		who.group = group
	}
	return who, nil
}
