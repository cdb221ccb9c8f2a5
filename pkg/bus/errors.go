package bus

import (
	"errors"
	"fmt"
	"time"
)

// Errors of a connection.
var (
	// ErrNoServer: nothing answers at the socket or URL.
	ErrNoServer = errors.New("cell is not running")
	// ErrUnserved: the server is up, but no process serves the subject.
	ErrUnserved = errors.New("no process answers")
	// ErrLost: the connection broke, or another owner came, while an answer was
	// awaited. Whether the request was carried out is unknown.
	ErrLost = errors.New("connection to the cell was lost")
	// ErrUnsent is an ErrLost: the connection was closed before, so that the request was not carried out.
	ErrUnsent = fmt.Errorf("%w before the request was sent", ErrLost)
	// ErrBusy: there are too many connections or requests, of this user or of all.
	ErrBusy = errors.New("qmaster is busy")
	// ErrRefused: the server does not let this identity do that.
	ErrRefused = errors.New("not permitted")
)

const (
	connectWait = 5 * time.Second
	daemonWait  = 20 * time.Second // for a daemon, which has no other server to go to
	busyWait    = time.Minute      // within this process: when nothing comes, the host is busy
)

// ErrToken means that a token is wrong, has expired or was revoked.
var ErrToken = fmt.Errorf("%w: the token is wrong, has expired or was revoked", ErrRefused)

// errUnrenewed is transient: a server that is cut off from the others refuses a renewal because of
// the one before, which it cannot store.
var errUnrenewed = errors.New("the lease is there, but no renewal of it is stored")
