package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Codes of refusals that pass.
const (
	errNoLeader   = 10008 // JetStream system temporarily unavailable
	errNoPeers    = 10005 // too few servers for the copies that are wanted
	errIncomplete = 10004 // not all servers have answered
	errOffline    = 10118 // no copy of the stream can be reached
	errNotEnabled = 10076 // JetStream is not enabled
)

// Servers of a cluster need up to nine seconds to notice that their leader is gone, and
// as long again when two of them want to follow it. Requests are repeated meanwhile,
// after each retryPause.
const retryPause = 250 * time.Millisecond

// leaderlessMax is how long a server may leave unanswered what needs a leader before
// who stays goes to another one: the others may have elected one, and this one be
// cut off from them. Longer than an election, and short enough for a lease to be
// renewed at the other one.
const leaderlessMax = 10 * time.Second

var errLeaderless = errors.New("it has been without a leader for too long")

// recordLeader records whether a leader, or the owner, has answered over this connection the
// request made at asked. It moves a connection with Stay to another server when none has
// answered for leaderless, and announces this to the clients that wait for us there. Where there is no other server,
// qmaster is busy: thousands of hosts that connect again would not help it.
func (c *Conn) recordLeader(asked time.Time, answered bool) {
	if c.server != nil {
		return
	}
	c.mu.Lock()
	switch {
	case answered:
		c.leaderlessSince = time.Time{}
	case c.leaderlessSince.IsZero():
		c.leaderlessSince = asked
	}
	leave := !answered && time.Since(c.leaderlessSince) > leaderlessMax && time.Since(c.lastSwitch) > leaderlessMax &&
		c.nc.Opts.AllowReconnect && c.nc.IsConnected() && len(c.nc.Servers()) > 1
	if leave {
		c.lastSwitch = time.Now()
	}
	c.mu.Unlock()
	if leave {
		c.lost(errLeaderless)
		if c.serving.Load() {
			c.Announce()
		}
		c.nc.ForceReconnect()
	}
}

// retryUntilLed calls do, which needs a leading server, again and again while a cluster has
// none: when its servers have just started, or the leading one is gone. waiting is called
// with the reason whenever that changes, unless it is nil.
func (c *Conn) retryUntilLed(ctx context.Context, waiting func(error), do func(context.Context) error) error {
	for said := ""; ; {
		asked := time.Now()
		attempt, cancel := context.WithTimeout(ctx, connectWait)
		err := do(attempt)
		cancel()
		c.recordLeader(asked, !isTransient(err))
		if err == nil || !isTransient(err) || c.nc.IsClosed() {
			return err
		}
		if waiting != nil && err.Error() != said {
			said = err.Error()
			waiting(err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(retryPause):
		}
	}
}

// isTransient reports whether the same request may be answered in a while.
func isTransient(err error) bool {
	var refused *jetstream.APIError
	if errors.As(err, &refused) {
		return isTransientCode(int(refused.ErrorCode))
	}
	var older *nats.APIError // the object store lists through the library's older interface
	if errors.As(err, &older) {
		return isTransientCode(int(older.ErrorCode))
	}
	var said *apiError
	if errors.As(err, &said) {
		return isTransientCode(said.errorCode())
	}
	for _, e := range []error{context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders,
		jetstream.ErrNoStreamResponse,
		nats.ErrConnectionReconnecting, nats.ErrDisconnected, ErrLost, ErrUnserved, errUnrenewed} {
		if errors.Is(lostError(err), e) {
			return true
		}
	}
	return false
}

func isTransientCode(code int) bool {
	switch code {
	case errNoLeader, errNoPeers, errIncomplete, errOffline, errNotEnabled:
		return true
	}
	return false
}
