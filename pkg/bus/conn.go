package bus

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// ConnOptions say where the server is and who connects. Give Socket (the cell's
// Unix socket) or URL (a server on the network).
type ConnOptions struct {
	Socket   string
	URL      string
	Identity Identity // over Socket a user's name is filled in by the kernel, over URL by the key
	Seed     string   // file with the nkey seed, over URL; without it the server may still let us in
	Token    string   // connects as the owner of this token, over Socket or URL; Identity and Seed are not used
	TLS      TLSFiles // over URL; Cert and Key may say who connects

	// Stay keeps a daemon trying for ever after the server went away; a command
	// fails at once.
	Stay bool
	// Lost and Back are called when a connection with Stay breaks and when it is
	// restored: subscriptions survive, messages published in between are lost.
	Lost func(error)
	Back func()

	// Inside is a server in this process, used instead of Socket and URL when it is not
	// nil: a client within the process is trusted to be Identity.
	Inside *Server
}

// answerWait is how long a server may take to accept a connection of o, and to answer over it.
func (o *ConnOptions) answerWait() time.Duration {
	switch {
	case o.Inside != nil:
		return busyWait
	case o.Stay && o.Identity.Role != QMaster && !strings.Contains(o.URL, ","):
		return daemonWait
	}
	return connectWait
}

// Waits before a connection with Stay is made again: the first, and the longest, which they double up to. Thousands of
// hosts lose their connections at the same moment, so that each wait is random, between half and one and a half of
// that. qmaster, of which there are few, does not wait for long.
const (
	reconnectWait       = 100 * time.Millisecond
	reconnectMost       = 5 * time.Second
	reconnectMostLeader = 200 * time.Millisecond
)

// ReconnectWait returns how long a daemon of a role waits before it connects again, after so many attempts.
func ReconnectWait(role Role, attempts int) time.Duration {
	most := reconnectMost
	if role == QMaster {
		most = reconnectMostLeader
	}
	wait := min(reconnectWait<<min(attempts, 10), most)
	return wait/2 + rand.N(wait)
}

// PingInterval is how often both ends ask whether the other is still there: one that leaves two pings unanswered is
// gone.
const PingInterval = 20 * time.Second

// Conn is one connection under one identity. All methods may be used by several
// goroutines.
type Conn struct {
	nc     *nats.Conn
	wait   time.Duration // for the server to answer
	id     Identity
	server *Server // when in the same process

	open  context.Context // until it is closed
	close context.CancelFunc

	serving atomic.Bool // Announce was called

	lost func(error) // called with the reason

	credits   credits       // of streamed answers
	streaming chan struct{} // an entry for each RequestStream that waits for answers

	mu              sync.Mutex
	pending         map[*pendingRequest]struct{}
	leaderlessSince time.Time // since when no leader has answered; zero: one does
	lastSwitch      time.Time // when a server was left for that
}

// pendingRequest is a request that is being waited for, until cancel is called with the reason why not.
type pendingRequest struct {
	subject string
	cancel  func(why error)
}

// Connect opens a connection. It fails at once if the server is not there.
func Connect(o ConnOptions) (*Conn, error) {
	if o.Inside == nil && o.Socket == "" && o.URL == "" {
		return nil, errors.New("neither a socket nor a URL to connect to")
	}
	return dial(o)
}

func dial(o ConnOptions) (*Conn, error) {
	c := &Conn{pending: make(map[*pendingRequest]struct{}), streaming: make(chan struct{}, streamsMax), server: o.Inside,
		wait: o.answerWait()}
	c.open, c.close = context.WithCancel(context.Background())
	if c.lost = o.Lost; c.lost == nil {
		c.lost = func(error) {}
	}
	dialer, err := o.newDialer()
	if err != nil {
		return nil, err
	}
	// Over a socket the server sends the identity before NATS is spoken, and the
	// inbox prefix needs it.
	if dialer.handshake != nil {
		if err := dialer.handshake(); err != nil {
			return nil, err
		}
	}
	c.id = dialer.id
	if !c.id.Known() && dialer.missingSeed != "" {
		return nil, missingKeyError(dialer)
	}
	if !c.id.Known() {
		return nil, fmt.Errorf("no such identity: %s", c.id)
	}
	if c.nc, err = nats.Connect(o.URL, c.natsOptions(o, dialer)...); err != nil {
		return nil, connectError(err, dialer)
	}
	if o.URL != "" && c.id.Role != QMaster {
		if err := c.watchAnnouncements(); err != nil {
			c.nc.Close()
			return nil, lostError(err)
		}
	}
	return c, nil
}

// natsOptions returns the options of the connection to the server.
func (c *Conn) natsOptions(o ConnOptions, dialer *dialer) []nats.Option {
	opts := append(dialer.opts,
		nats.Name(c.id.String()),
		nats.CustomInboxPrefix(c.id.inbox()),
		nats.Timeout(o.answerWait()),
		nats.PermissionErrOnSubscribe(true),
		nats.ErrorHandler(c.handleAsyncError),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			c.failPending("", ErrLost)
			if err != nil {
				c.lost(err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			nc.FlushTimeout(o.answerWait())  // the server knows the subscriptions again
			c.recordLeader(time.Now(), true) // or may be
			if c.serving.Load() {
				c.Announce()
			}
			if o.Back != nil {
				o.Back()
			}
		}),
		nats.ClosedHandler(func(*nats.Conn) {
			c.close()
			c.failPending("", ErrLost)
		}),
	)
	if o.Stay {
		opts = append(opts, nats.MaxReconnects(-1), nats.CustomReconnectDelay(func(attempts int) time.Duration {
			return ReconnectWait(o.Identity.Role, attempts)
		}), nats.ReconnectBufSize(-1),
			nats.IgnoreAuthErrorAbort(), nats.PingInterval(PingInterval))
	} else {
		opts = append(opts, nats.NoReconnect())
	}
	return opts
}

func connectError(err error, d *dialer) error {
	var alert *net.OpError
	switch {
	case errors.Is(err, nats.ErrAuthorization) && d.id.Token != 0:
		return ErrToken
	case errors.Is(err, nats.ErrAuthorization) && d.id.Role == Guest:
		return fmt.Errorf("%w: nobody can log in to this cell: qmaster_params has neither LOGIN_ISSUER nor LOGIN_CERT",
			ErrRefused)
	case d.cert != nil && time.Now().After(d.cert.until):
		return fmt.Errorf("%w: the certificate in %s expired at %s", ErrRefused, d.cert.file,
			d.cert.until.Format(time.DateTime))
	case errors.Is(err, nats.ErrAuthorization) && d.cert != nil && d.id.Role == User:
		return fmt.Errorf(
			"%w: the server does not accept the certificate in %s: it is of no authority that qmaster knows (--tls-ca), names no user (LOGIN_CERT), "+
				"or names root, a manager or an operator who is not in LOGIN_PRIVILEGED; the log of qmaster has the reason",
			ErrRefused, d.cert.file)
	case d.cert != nil && errors.As(err, &alert) && alert.Op == "remote error":
		// crypto/tls: what the server says of the certificate
		return fmt.Errorf("%w: the server does not accept the certificate in %s: %w", ErrRefused, d.cert.file, alert.Err)
	case errors.Is(err, nats.ErrAuthorization) && d.missingSeed != "":
		return missingKeyError(d)
	case errors.Is(err, nats.ErrAuthorization):
		return fmt.Errorf("%w: the server does not know these credentials", ErrRefused)
	case strings.Contains(err.Error(), nats.MAX_CONNECTIONS_ERR):
		return fmt.Errorf("%w: too many connections, try again later", ErrBusy)
	case errors.Is(err, ErrRefused), errors.Is(err, ErrBusy), errors.Is(err, ErrNoServer):
		return err
	case d.net != nil && d.net.err != nil:
		err = d.net.err
	}
	return fmt.Errorf("%w: %w", ErrNoServer, err)
}

func missingKeyError(d *dialer) error {
	return fmt.Errorf("%w: %s has no key: there is no %s", ErrRefused, strings.TrimSpace(d.id.String()), d.missingSeed)
}

// Identity is what the server authenticated this connection as.
func (c *Conn) Identity() Identity { return c.id }

// AuthRequired reports whether the server authenticates clients. One that does not permits
// everything to everybody.
func (c *Conn) AuthRequired() bool { return c.nc.AuthRequired() }

// Close ends the connection; what was published is sent first.
func (c *Conn) Close() {
	if c.nc.IsConnected() {
		c.nc.FlushTimeout(connectWait)
	}
	c.nc.Close()
}

// Abort closes the connection at once. Unsent messages may be lost, and all calls that
// wait end with ErrLost.
func (c *Conn) Abort() { c.nc.Close() }

// contextWithin returns a context for so long, and no longer than until the connection is
// closed.
func (c *Conn) contextWithin(wait time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.open, wait)
}

// storeBroken returns why nothing can be written any more: the connection is closed,
// or the server is in this process and its store is broken.
func (c *Conn) storeBroken() error {
	if c.server != nil {
		if err := c.server.storeBroken(); err != nil {
			return err
		}
	}
	if c.nc.IsClosed() {
		return ErrLost
	}
	return nil
}

// Publish sends data to the subscribers, if there are any. It fails with ErrLost while a
// connection with Stay is down.
func (c *Conn) Publish(subject string, data []byte) error {
	return lostError(c.nc.Publish(subject, data))
}

func lostError(err error) error {
	if errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrReconnectBufExceeded) {
		return ErrLost
	}
	return err
}

// Flush returns when the server has seen everything published so far.
func (c *Conn) Flush(ctx context.Context) error { return lostError(c.nc.FlushWithContext(ctx)) }

// Subscribe has handle called with every message on subject (wildcards as in
// NATS), one after the other, until the returned function is called. The server
// knows the subscription when Subscribe returns; ErrRefused if it may not be.
// data is handle's to keep.
func (c *Conn) Subscribe(subject string, handle func(subject string, data []byte)) (stop func(), err error) {
	return c.subscribeMsg(subject, func(m *nats.Msg) { handle(m.Subject, m.Data) })
}

func (c *Conn) subscribeMsg(subject string, handle nats.MsgHandler) (stop func(), err error) {
	sub, err := c.subscribe(subject, handle)
	return func() { sub.Unsubscribe() }, err
}

func (c *Conn) subscribe(subject string, handle nats.MsgHandler) (*nats.Subscription, error) {
	sub, err := c.nc.Subscribe(subject, handle)
	if err != nil {
		return nil, lostError(err)
	}
	if err := sub.SetPendingLimits(-1, pendingBytesMax); err != nil {
		return nil, ErrLost // a subscription just made is valid until the connection is closed
	}
	if err := c.nc.FlushTimeout(c.wait); err != nil {
		return nil, lostError(err)
	}
	if err := c.nc.LastError(); errors.Is(err, nats.ErrPermissionViolation) && mentionsSubject(err, subject) {
		return nil, fmt.Errorf("%w: %s reading %s", ErrRefused, c.id, subject)
	}
	return sub, nil
}

// pendingBytesMax bounds what a slow handler may leave unread.
const pendingBytesMax = 256 << 20

// askWait is how long a client of the owner waits for an answer. An owner that
// lives says in half a minute that it will take longer; one that died beside an
// external server leaves no other sign until the next one comes (see Announce).
const askWait = 40 * time.Second

// Request sends data and waits for the one answer; ErrLost if there is none for long. A
// connection with Stay moves to another server after some time without an answer.
func (c *Conn) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, askWait, ErrLost)
	defer cancel()
	asked := time.Now()
	m, err := c.request(ctx, &nats.Msg{Subject: subject, Data: data})
	c.recordLeader(asked, !isTransient(err))
	switch {
	case err != nil:
		return nil, err
	case isBusyAnswer(m):
		return nil, ErrBusy
	}
	return m.Data, nil
}

// AskHost sends data to a client that serves subject, the execd of a host, and waits until ctx ends for the answer. The
// error is ErrUnserved when none serves it. Its silence, unlike that of the owner, says nothing about the server.
func (c *Conn) AskHost(ctx context.Context, subject string, data []byte) ([]byte, error) {
	m, err := c.request(ctx, &nats.Msg{Subject: subject, Data: data})
	if err != nil {
		return nil, err
	}
	return m.Data, nil
}

// Ask asks the owner of the log for what ("add", "del", ...) and waits for the
// answer.
func (c *Conn) Ask(ctx context.Context, what string, data []byte) ([]byte, error) {
	return c.Request(ctx, CmdSubject(c.id, what), data)
}

func (c *Conn) request(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	if c.nc.IsClosed() {
		return nil, ErrUnsent
	}
	ctx, done := c.trackRequest(ctx, m.Subject)
	defer done()
	answer, err := c.nc.RequestMsgWithContext(ctx, m)
	if err != nil {
		return nil, c.requestError(ctx, m.Subject, err)
	}
	return answer, nil
}

// trackRequest makes a context that also ends when the connection breaks or the server
// refuses to take a message for subject.
func (c *Conn) trackRequest(ctx context.Context, subject string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	p := &pendingRequest{subject, cancel}
	c.addPending(p)
	return ctx, func() {
		c.mu.Lock()
		delete(c.pending, p)
		c.mu.Unlock()
		cancel(nil)
	}
}

// addPending has p cancelled when the connection breaks.
func (c *Conn) addPending(p *pendingRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[p] = struct{}{}
}

// failPending ends the waiting for subject, or for everything if it is "".
func (c *Conn) failPending(subject string, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range c.pending {
		if subject == "" || p.subject == subject {
			p.cancel(why)
		}
	}
}

func (c *Conn) requestError(ctx context.Context, subject string, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, ErrLost), errors.Is(cause, ErrRefused):
		return cause
	case errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%w at %s", ErrUnserved, subject)
	}
	return lostError(err)
}

// handleAsyncError takes what the server says about a message after it was sent.
func (c *Conn) handleAsyncError(_ *nats.Conn, _ *nats.Subscription, err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range c.pending {
		if mentionsSubject(err, p.subject) {
			p.cancel(fmt.Errorf("%w: %s asking at %s", ErrRefused, c.id, p.subject))
		}
	}
}

func mentionsSubject(err error, subject string) bool {
	return strings.Contains(err.Error(), `"`+subject+`"`)
}
