package bus

import (
	"fmt"
	"math"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/pkg/fair"
)

// quota bounds the connections to a server, so that no user can take the file
// descriptors that qmaster's own files, daemons and other users need.
type quota struct {
	total   int // all connections
	reserve int // of these, only for daemons and administrators
	user    int // of one user, or one uid of the socket

	mu  sync.Mutex
	all int
	of  map[fair.User]int
}

const (
	connectionsMax     = 16384 // of a server, if file descriptors allow
	userConnectionsMax = 1000
	// filesReserve are descriptors for everything that is not a connection: the log,
	// snapshots, the accounting file, processes of the verifier.
	filesReserve = 256
	// filesEach: besides the connections that are counted here, as many again may be open
	// over TCP that are not authenticated yet, and as many that are being closed.
	filesEach      = 3
	reservedPart   = 8 // one in so many connections is reserved for daemons
	userPart       = 4 // a user may have one in so many
	connectionsMin = 64
	// natsUserMax bounds the connections of one user, host or scheduler that speak NATS:
	// the server keeps what a client does not read, up to 40 MB for each. On qmaster's
	// host commands send requests over lines instead, see Line, and speak NATS for
	// listings and events.
	natsUserMax = 64
)

// newNATSQuota bounds the connections of one user that speak NATS; all connections
// are bounded by newQuota.
func newNATSQuota() *quota {
	return &quota{total: math.MaxInt, user: natsUserMax, of: make(map[fair.User]int)}
}

// newQuota allows at most total connections, 0: as many as file descriptors allow.
// The Go runtime has raised the soft limit of descriptors to the hard one.
func newQuota(total int) *quota {
	if total == 0 {
		total = connectionsMax
		var files unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil && files.Cur < 4*connectionsMax {
			total = min(total, (int(files.Cur)-filesReserve)/filesEach)
		}
		total = max(total, connectionsMin)
	}
	return &quota{total: total, reserve: total / reservedPart, user: max(1, min(userConnectionsMax, total/userPart)), of: make(map[fair.User]int)}
}

// enter counts a connection, or says why there are too many. who is a user or a uid; a
// trusted one, a daemon or an administrator, is bounded by the total only.
func (q *quota) enter(who fair.User, trusted bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.enterLocked(who, trusted)
}

// enterLocked is enter with mu held.
func (q *quota) enterLocked(who fair.User, trusted bool) error {
	switch {
	case q.all >= q.total, !trusted && q.all >= q.total-q.reserve:
		return fmt.Errorf("%w: too many connections (at most %d), try again later", ErrBusy, q.total)
	case !trusted && q.of[who] >= q.user:
		return fmt.Errorf("%w: too many connections of %s (at most %d), try again later", ErrBusy, who.Name, q.user)
	}
	q.all++
	q.of[who]++
	return nil
}

// count returns how many connections there are.
func (q *quota) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.all
}

// leave undoes enter.
func (q *quota) leave(who fair.User) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(who)
}

// drop is leave with mu held.
func (q *quota) drop(who fair.User) {
	q.all--
	if q.of[who]--; q.of[who] <= 0 {
		delete(q.of, who)
	}
}

// move counts a connection of from for a user instead. If it fails the connection still
// is one of from.
func (q *quota) move(from, to fair.User) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(from)
	err := q.enterLocked(to, false)
	if err != nil {
		q.all++
		q.of[from]++
	}
	return err
}
