package execd

import (
	"fmt"
	"strconv"
	"time"

	"github.com/quill-grid/quill/execd/core"
	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/userdb"
)

// accountWait is how long the start of a job may wait for an account that was not seen before. Then the start fails.
const accountWait = 10 * time.Second

// lookUpAccount returns an account of this host. It fails with core.ErrNoAccount, or when the user database does.
func lookUpAccount(name string) (core.Account, error) {
	u, err := userdb.Lookup(name)
	if userdb.NoEntry(err) {
		err = fmt.Errorf("%w: %w", core.ErrNoAccount, err)
	}
	if err != nil {
		return core.Account{}, err
	}
	ids, err := userdb.Groups(u)
	if err != nil {
		return core.Account{}, err
	}
	a := core.Account{Name: u.Username, Owner: plan.Owner{UID: parseID(u.Uid), GID: parseID(u.Gid)}, Home: u.HomeDir}
	for _, id := range ids {
		a.Groups = append(a.Groups, parseID(id))
	}
	return a, nil
}

func parseID(id string) uint32 {
	n, _ := strconv.ParseUint(id, 10, 32)
	return uint32(n)
}
