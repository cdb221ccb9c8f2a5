package execd

import (
	"os/user"
	"strconv"
	"time"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/userdb"
)

// accountWait is how long the start of a job may wait for an account that was not seen before. Then it fails as without one.
const accountWait = 10 * time.Second

// accounts are those of this host.
type accounts struct {
	userdb.Cache[string, core.Account]
}

func newAccounts() *accounts {
	return &accounts{userdb.Cache[string, core.Account]{Look: lookUpAccount, Patience: accountWait}}
}

// lookUp returns the account of a user, false when there is none.
func (l *accounts) lookUp(name string) (core.Account, bool) {
	a, err := l.Get(name)
	return a, err == nil
}

func lookUpAccount(name string) (core.Account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return core.Account{}, err
	}
	a := core.Account{Name: u.Username, Owner: plan.Owner{UID: number(u.Uid), GID: number(u.Gid)}, Home: u.HomeDir}
	if ids, err := u.GroupIds(); err == nil {
		for _, id := range ids {
			a.Groups = append(a.Groups, number(id))
		}
	}
	return a, nil
}

func number(id string) uint32 {
	n, _ := strconv.ParseUint(id, 10, 32)
	return uint32(n)
}
