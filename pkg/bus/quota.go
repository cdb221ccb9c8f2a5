package bus

import (
	"errors"
	"fmt"
	"math"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/pkg/fair"
)

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
	// host commands send requests over local connections instead, see LocalConn, and speak NATS for
	// listings and events.
	natsUserMax = 64
)

// newNATSQuota bounds the connections of one user that speak NATS; all connections
// are bounded by newConnQuota.
func newNATSQuota() *fair.Places {
	return fair.NewPlaces("connections that speak NATS",
		fair.Limits{Total: math.MaxInt, User: natsUserMax, Daemon: natsUserMax})
}

// newConnQuota bounds the connections to a server, so that no user can take the file
// descriptors that qmaster's own files, daemons and other users need. It allows at most
// total, 0: as many as file descriptors allow.
// The Go runtime has raised the soft limit of descriptors to the hard one.
func newConnQuota(total int) *fair.Places {
	if total == 0 {
		total = connectionsMax
		var files unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil && files.Cur < 4*connectionsMax {
			total = min(total, (int(files.Cur)-filesReserve)/filesEach)
		}
		total = max(total, connectionsMin)
	}
	return fair.NewPlaces("connections",
		fair.Limits{Total: total, Reserve: total / reservedPart, User: max(1, min(userConnectionsMax, total/userPart))})
}

// newHandshakeQuota bounds the connections of each address that are not authenticated yet.
func newHandshakeQuota(total int) *fair.Places {
	return fair.NewPlaces("connections that are not authenticated yet",
		fair.Limits{Total: total, User: max(total/2, 1), Reserve: total / reservedPart})
}

// admitConn counts a connection, or returns why there are too many. who is a user or a uid.
func admitConn(q *fair.Places, who fair.User) error {
	err := q.Enter(who, 1)
	if full := (*fair.Full)(nil); errors.As(err, &full) {
		of := ""
		if full.Own {
			of = " of " + who.Name
		}
		return fmt.Errorf("%w: too many connections%s (at most %d), try again later", ErrBusy, of, full.Most)
	}
	return err
}
