package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
)

// Request is a request of another program. From is the identity that the server
// authenticated; the payload does not identify the sender. Its name is empty when its token
// is not valid any more.
type Request struct {
	Subject string
	From    Identity
	Data    []byte

	conn  *Conn
	reply string

	local  *localSession // instead of conn, for a request that came over one
	number uint64
}

// Serve calls handle with every request on subject, one after the other, the senders in
// turns (requestqueue.go). handle must not block, so keep the Request and answer later. A request
// whose answer would not go to the sender's own inbox is dropped: it is an attempt to
// have us write to another client.
//
// A handler of AllCmd in the server's process receives the requests of local connections, too.
//
// stop accepts no more requests, and returns when handle has received all that arrived.
func (c *Conn) Serve(subject string, handle func(*Request)) (stop func(), err error) {
	if c.id.Role != QMaster { // there is one sender only
		return c.serveRequests(subject, handle)
	}
	d := new(requestQueue)
	if subject == AllCmd && c.server != nil {
		d = &c.server.requests
	}
	d.setHandler(handle) // before anything can come
	unsubscribe, err := c.serveRequests(subject, func(r *Request) {
		if d.handleOrQueue(r) == tooMany {
			r.AnswerBusy()
		}
	})
	if err != nil {
		d.drainAndClose()
		return nil, err
	}
	return func() {
		unsubscribe()
		d.drainAndClose()
	}, nil
}

// AnswerBusy answers with ErrBusy: the sender may ask again.
func (r *Request) AnswerBusy() {
	switch {
	case r.local != nil:
		r.local.queueAnswer(r.number, localBusy, nil)
		r.local.flushAnswers()
	case r.reply != "":
		r.conn.nc.PublishMsg(&nats.Msg{Subject: r.reply, Header: nats.Header{"Status": {statusBusy}}})
	}
}

// Statuses of answers without data: statusBusy is ErrBusy, and the server answers with
// statusUnserved what has no subscriber.
const (
	statusBusy     = "429"
	statusUnserved = "503"
)

// isBusyAnswer reports whether an answer is one of AnswerBusy.
func isBusyAnswer(m *nats.Msg) bool { return len(m.Data) == 0 && m.Header.Get("Status") == statusBusy }

func (c *Conn) serveRequests(subject string, handle func(*Request)) (stop func(), err error) {
	sub, err := c.subscribe(subject, func(m *nats.Msg) {
		from, ok := Sender(m.Subject)
		if !ok {
			// Commands to a host are sent by qmaster only: the server sees to that.
			from = Identity{Role: QMaster, Name: "qmaster"}
			if c.id.Role != Host {
				return
			}
		} else if m.Reply != "" && !from.OwnsInbox(m.Reply) {
			return
		}
		if from.Token != 0 && c.server != nil {
			from.Name = c.server.auth.tokenUser(from.Token)
		}
		handle(&Request{Subject: m.Subject, From: from, Data: m.Data, conn: c, reply: m.Reply})
	})
	return func() { c.drainSubscription(sub) }, err
}

// drainSubscription unsubscribes, and returns when all that has come is handled: what a server
// that answers has sent.
func (c *Conn) drainSubscription(sub *nats.Subscription) {
	drained := make(chan struct{})
	sub.SetClosedHandler(func(string) { close(drained) })
	if !c.nc.IsConnected() || sub.Drain() != nil {
		sub.Unsubscribe()
		return
	}
	select {
	case <-drained:
	case <-time.After(connectWait):
	}
}

// Announce notifies all clients that this server process serves, now and whenever the
// connection is restored after it broke; or, before the connection is closed, that it
// leaves. A client that still waits for an answer may have sent its request to a process
// that is gone, or the answer was lost: its wait ends with ErrLost and it repeats the
// request.
func (c *Conn) Announce() error {
	c.serving.Store(true)
	return c.Publish(servingSubject, nil)
}

// watchAnnouncements ends the waits of this connection's requests upon an Announce. Beside a server in
// the owner's process it is not needed: the connection breaks when the owner goes.
func (c *Conn) watchAnnouncements() error {
	_, err := c.nc.Subscribe(servingSubject, func(*nats.Msg) { c.failPending("", ErrLost) })
	return err
}

// Local reports whether the request came over the Unix socket without NATS: from this host.
func (r *Request) Local() bool { return r.local != nil }

// Answer sends the one answer, or ends a streamed one.
func (r *Request) Answer(data []byte) error {
	if r.local != nil {
		r.local.queueAnswer(r.number, localAnswered, data)
		r.local.flushAnswers()
		return nil // an asker who is gone needs none
	}
	if r.reply == "" {
		return nil // no client waits
	}
	return r.conn.Publish(r.reply, data)
}

// Chunks of a streamed answer that may be on their way unacknowledged, their bytes
// (always one chunk), and how long a client may take to acknowledge one.
const (
	streamWindow      = 8
	streamWindowBytes = 2 << 20
	creditWait        = 30 * time.Second
)

// Errors of a streamed answer.
var (
	ErrStopped = errors.New("asker wants no more")
	ErrSlow    = errors.New("asker has stopped reading")
)

// AnswerStream sends a big answer in chunks, never more ahead of the asker than a
// window, so that neither side holds more than a few of them.
type AnswerStream struct {
	r       *Request
	ack     string
	credit  chan bool // true: one more; false: stop
	sent    []int     // bytes of each chunk that is not acknowledged
	unread  int       // their sum
	stopped bool
}

// OpenAnswerStream begins an answer in chunks. Finish it with End in any case.
func (r *Request) OpenAnswerStream() (*AnswerStream, error) {
	if r.local != nil {
		return nil, errors.New("nothing is streamed over a line")
	}
	if r.reply == "" {
		return nil, errors.New("request without a reply subject")
	}
	a := &AnswerStream{r: r, ack: ackPrefix + r.From.Word() + "." + nuid.Next(), credit: make(chan bool, streamWindow+1)}
	return a, r.conn.credits.register(r.conn, a)
}

// credits are the streamed answers of a connection that wait for their clients. One
// subscription serves all of them: a short answer costs the server no subscription
// of its own.
type credits struct {
	subscribing sync.Mutex
	subscribed  bool

	mu   sync.Mutex
	open map[string]*AnswerStream // by the subject of their credit
}

func (c *credits) register(conn *Conn, a *AnswerStream) error {
	c.subscribing.Lock()
	defer c.subscribing.Unlock()
	if !c.subscribed {
		if _, err := conn.subscribeMsg(ackPrefix+">", c.addCredit); err != nil {
			return err
		}
		c.subscribed = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = make(map[string]*AnswerStream)
	}
	c.open[a.ack] = a
	return nil
}

func (c *credits) addCredit(m *nats.Msg) {
	c.mu.Lock()
	a := c.open[m.Subject]
	c.mu.Unlock()
	if a == nil {
		return // the answer is complete
	}
	gone := m.Header.Get("Status") == statusUnserved // the client reads no more chunks
	select {
	case a.credit <- len(m.Data) == 0 && !gone:
	default: // more credit than chunks sent: a client that does not count is cut off by creditWait
	}
}

func (c *credits) remove(a *AnswerStream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, a.ack)
}

// Send sends one chunk, at most FrameMax bytes; it waits for the client if the
// window is used up. The caller gives up on ErrStopped and ErrSlow.
func (a *AnswerStream) Send(ctx context.Context, chunk []byte) error {
	for len(a.sent) == streamWindow || len(a.sent) > 0 && a.unread+len(chunk) > streamWindowBytes || len(a.credit) > 0 {
		if err := a.awaitAck(ctx); err != nil {
			return err
		}
	}
	a.sent = append(a.sent, len(chunk))
	a.unread += len(chunk)
	return lostError(a.r.conn.nc.PublishRequest(a.r.reply, a.ack, chunk))
}

// AwaitReceived waits until the client has acknowledged all chunks; errors as of Send.
func (a *AnswerStream) AwaitReceived(ctx context.Context) error {
	for len(a.sent) > 0 {
		if err := a.awaitAck(ctx); err != nil {
			return err
		}
	}
	return nil
}

// awaitAck waits for the next acknowledgement.
func (a *AnswerStream) awaitAck(ctx context.Context) error {
	select {
	case more := <-a.credit:
		if !more {
			a.stopped = true
			return ErrStopped
		}
		if len(a.sent) > 0 { // else a client that does not count
			a.unread -= a.sent[0]
			a.sent = a.sent[1:]
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(creditWait):
		return ErrSlow
	}
}

// End closes the answer with a last word.
func (a *AnswerStream) End(last []byte) error {
	a.r.conn.credits.remove(a)
	if a.stopped {
		return nil
	}
	return a.r.Answer(last)
}

// streamsMax bounds the Streams of a connection at a time: each has a subscription, and
// the server, which permits 1,000, drops the answers of one that is too many.
const streamsMax = 500

// RequestStream sends a request that may be answered in chunks: it calls each with every chunk
// in turn, which each may keep, and returns the final answer. If each fails or ctx ends,
// the server is sent a cancellation and the error is returned. A plain answer is a final
// answer without chunks.
func (c *Conn) RequestStream(
	ctx context.Context, subject string, data []byte, each func(chunk []byte) error,
) (last []byte, err error) {
	ctx, done := c.trackRequest(ctx, subject)
	defer done()
	select {
	case c.streaming <- struct{}{}:
		defer func() { <-c.streaming }()
	case <-ctx.Done():
		return nil, c.requestError(ctx, subject, ctx.Err())
	}
	// all that may come before credit is given; the library's default takes 512 KB
	answers := make(chan *nats.Msg, streamWindow+1)
	sub, err := c.nc.ChanSubscribe(c.nc.NewInbox(), answers)
	if err != nil {
		return nil, lostError(err)
	}
	defer sub.Unsubscribe()
	if err := c.nc.PublishRequest(subject, sub.Subject, data); err != nil {
		return nil, c.requestError(ctx, subject, err)
	}
	credit := "" // where to send it
	silence := time.NewTimer(askWait)
	defer silence.Stop()
	for {
		var m *nats.Msg
		err := ErrLost
		select {
		case m = <-answers:
			silence.Reset(askWait)
		case <-silence.C:
		case <-ctx.Done():
			err = c.requestError(ctx, subject, ctx.Err())
		}
		if m == nil {
			if credit != "" {
				c.nc.Publish(credit, []byte("stop"))
			}
			return nil, err
		}
		if len(m.Data) == 0 && m.Header.Get("Status") == statusUnserved {
			return nil, fmt.Errorf("%w at %s", ErrUnserved, subject)
		}
		if isBusyAnswer(m) {
			return nil, ErrBusy
		}
		if m.Reply == "" {
			return m.Data, nil
		}
		credit = m.Reply
		if err := each(m.Data); err != nil {
			c.nc.Publish(credit, []byte("stop"))
			return nil, err
		}
		if err := c.nc.Publish(credit, nil); err != nil {
			return nil, c.requestError(ctx, subject, err)
		}
	}
}
