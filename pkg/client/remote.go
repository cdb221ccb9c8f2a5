package client

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// How long a request is tried. A qmaster that was stopped with its server is not
// waited for; one that is being restarted, or died and may be, is, and the next one
// where a server runs without it.
const (
	restartWait = 5 * time.Second  // no qmaster has taken the request yet
	comingWait  = 60 * time.Second // nor that, and one starts or waits as standby
	noticeWait  = 10 * time.Second // it is not said before that what is waited for
	busyWait    = 30 * time.Second // qmaster is busy, and wants it again
	answerWait  = 60 * time.Second // it may have been carried out
	pauseMin    = 20 * time.Millisecond
	pauseMax    = 500 * time.Millisecond
)

// Remote is a connection to the qmaster of a cell: a Client, and what
// event clients, execd and schedd need besides. Over the cell's socket requests
// have a line of their own; what is streamed goes over NATS, to which no one
// connects before it is needed.
type Remote struct {
	cell cell.Cell
	conn held[*bus.Conn]
	line held[*bus.LocalConn] // without dial: requests go over conn
	// patient makes try wait for qmaster for ever: for daemons.
	patient bool
	// notice is called when a call has lasted for noticeWait, with what is waited for; nil: no call.
	notice func(text string)
	// named: the first request that makes something has the number of grid.RequestVariable, if there is one.
	named bool
}

// held is a connection that is made when it is needed, and anew when it broke.
type held[C connection] struct {
	dial func() (C, error)

	mu   sync.Mutex
	conn C
	open bool
}

type connection interface {
	comparable
	Close()
}

// Connect opens a connection to the qmaster of a cell, as the user who runs this program, or as the owner of the token
// that the user has chosen (cell.Cell.UserToken). The error is *cell.NotFound or *Unreachable, or the server refused.
func Connect(ctx context.Context, c cell.Cell) (*Remote, error) {
	return connect(ctx, c, func(*Remote) {})
}

// connect is Connect for a Remote that set completes.
func connect(ctx context.Context, c cell.Cell, set func(*Remote)) (*Remote, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	token, login, err := c.UserToken()
	if err != nil {
		return nil, err
	}
	options := func() bus.ConnOptions { return c.ConnOptions(bus.Identity{Role: bus.User}) }
	if token != "" {
		options = func() bus.ConnOptions { return c.TokenOptions(token) }
	}
	r := newRemote(c, options)
	set(r)
	r, err = opened(ctx, r)
	if login && errors.Is(err, bus.ErrToken) {
		err = fmt.Errorf("%w: it is that of a log-in; run quill login again, or quill logout to act as the local user", err)
	}
	return r, err
}

// ConnectGuest opens a connection that needs no credentials, for gdi.WaysToLogIn and gdi.LogIn. Errors are those of
// Connect.
func ConnectGuest(ctx context.Context, c cell.Cell) (*Remote, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return opened(ctx, newRemote(c, c.GuestOptions))
}

// ConnectCert opens a connection with a TLS certificate and its key, PEM files, as the user that the certificate names.
// Errors are those of Connect.
func ConnectCert(ctx context.Context, c cell.Cell, cert, key, user string) (*Remote, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	o, err := c.CertOptions(cert, key)
	if err != nil {
		return nil, err
	}
	o.Identity.Name = user
	return opened(ctx, newRemote(c, func() bus.ConnOptions { return o }))
}

// ConnectToken opens a connection to the qmaster of a cell, as the owner of a token and within its scope. Errors are
// those of Connect, and bus.ErrToken when the token is wrong, has expired or was revoked. A request that the scope does
// not include is answered with gdi.StatusScope.
func ConnectToken(ctx context.Context, c cell.Cell, token string) (*Remote, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return opened(ctx, newRemote(c, func() bus.ConnOptions { return c.TokenOptions(token) }))
}

// opened connects r.
func opened(ctx context.Context, r *Remote) (*Remote, error) {
	var err error
	if r.line.dial != nil {
		err = try(ctx, r, &r.line, r.notice, func(*bus.LocalConn) error { return nil })
	} else {
		err = try(ctx, r, &r.conn, r.notice, func(*bus.Conn) error { return nil })
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// newRemote returns a Remote of the cell that has not connected yet.
func newRemote(c cell.Cell, options func() bus.ConnOptions) *Remote {
	r := Over(c, func() (*bus.Conn, error) { return bus.Connect(options()) })
	if o := options(); o.Inside == nil && o.Socket != "" {
		r.line.dial = func() (*bus.LocalConn, error) { return bus.DialLocal(o) }
	}
	return r
}

// Over makes a Remote of connections that dial opens: those of a server in the
// same process.
func Over(c cell.Cell, dial func() (*bus.Conn, error)) *Remote {
	return &Remote{cell: c, conn: held[*bus.Conn]{dial: dial}}
}

// Close ends the connection.
func (r *Remote) Close() error {
	r.conn.close()
	r.line.close()
	return nil
}

// get returns the connection, a new one if there is none.
func (h *held[C]) get() (C, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open {
		return h.conn, nil
	}
	conn, err := h.dial()
	if err == nil {
		h.conn, h.open = conn, true
	}
	return conn, err
}

// drop forgets a connection that broke.
func (h *held[C]) drop(conn C) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open && h.conn == conn {
		conn.Close()
		h.open = false
	}
}

func (h *held[C]) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open {
		h.conn.Close()
		h.open = false
	}
}

// noticing calls notice, unless it is nil, when a call lasts for long. failed sets why; end is called when the call is
// over.
func noticing(notice func(text string)) (failed func(error), end func()) {
	if notice == nil {
		return func(error) {}, func() {}
	}
	var last atomic.Pointer[error]
	late := time.AfterFunc(noticeWait, func() {
		text := "qmaster has not answered yet; waiting"
		if why := last.Load(); why != nil {
			text = fmt.Sprintf("qmaster does not answer (%s); waiting", reason(*why))
		}
		notice(text)
	})
	return func(err error) { last.Store(&err) }, func() { late.Stop() }
}

// noticeUnless returns notice for an answer that comes in parts: when it has begun there is nothing to say.
func (r *Remote) noticeUnless(begun *atomic.Bool) func(string) {
	if r.notice == nil {
		return nil
	}
	return func(text string) {
		if !begun.Load() {
			r.notice(text)
		}
	}
}

// try calls send with a connection, again with a new one as long as the
// failure is of a kind that a restarting qmaster explains. notice is that of Remote, nil for a request that
// is meant to wait.
func try[C connection](ctx context.Context, r *Remote, h *held[C], notice func(string), send func(C) error) error {
	begun, patience, pause := time.Now(), restartWait, pauseMin
	failed, end := noticing(notice)
	defer end()
	for {
		conn, err := h.get()
		if err == nil {
			err = send(conn)
			if refused := (*bus.RefusedError)(nil); errors.As(err, &refused) {
				h.drop(conn)
			} else if errors.Is(err, bus.ErrBusy) {
				patience = max(patience, busyWait)
			}
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, bus.ErrUnsent):
			h.drop(conn)
		case errors.Is(err, bus.ErrLost):
			h.drop(conn)
			patience = answerWait
		case errors.Is(err, bus.ErrBusy):
			if !r.patient && time.Since(begun)+pause > patience {
				return fmt.Errorf("error: %w", err)
			}
		case errors.Is(err, bus.ErrUnserved):
			h.drop(conn) // of several servers another one may reach qmaster
		case errors.Is(err, bus.ErrNoServer):
			if !r.patient && !expected(r.cell) {
				return unreachable(r.cell, err)
			}
		default:
			return err
		}
		failed(err)
		if !r.patient && time.Since(begun)+pause > patience {
			if patience >= comingWait || !r.cell.Starting() {
				return unreachable(r.cell, err)
			}
			patience = comingWait
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, pauseMax)
	}
}

// expected reports whether qmaster runs, is starting or waiting, or died without having
// stopped.
func expected(c cell.Cell) bool {
	_, err := os.Stat(c.PIDFile())
	return err == nil || c.Starting()
}

func unreachable(c cell.Cell, err error) error {
	host, readErr := os.ReadFile(c.ActQMaster())
	if readErr != nil {
		host = []byte("localhost")
	}
	return &Unreachable{Cell: c, Host: strings.TrimSpace(string(host)), Err: err}
}

// Do implements Client.
func (r *Remote) Do(ctx context.Context, command string, body gdi.Body) (gdi.Reply, error) {
	return r.DoOnce(ctx, r.requestID(body), command, body)
}

// requestsNamed counts the requests of this process that grid.RequestVariable has named.
var requestsNamed atomic.Int64

// requestID returns the number of a new request.
func (r *Remote) requestID(body gdi.Body) string {
	name := os.Getenv(grid.RequestVariable)
	if !r.named || name == "" || !gdi.Makes(body) {
		return newID()
	}
	if n := requestsNamed.Add(1); n > 1 {
		return fmt.Sprint(name, ".", n)
	}
	return name
}

// DoOnce is Do for a request whose number the caller has chosen: with a number that was used before, no second job or
// reservation is made, and the answer names the first one. The error is *Unanswered when the request may have been
// carried out.
func (r *Remote) DoOnce(ctx context.Context, id, command string, body gdi.Body) (gdi.Reply, error) {
	req := newRequest(command, body)
	req.ID = id
	data := codec.AppendRequest(nil, req)
	notice := r.notice
	switch body.(type) {
	case *gdi.Wait, *gdi.Output:
		notice = nil
	}
	lost := false
	for {
		var reply gdi.Reply
		ask := func(asked interface {
			Ask(ctx context.Context, what string, data []byte) ([]byte, error)
		}) error {
			answer, err := asked.Ask(ctx, body.Verb(), data)
			if err != nil {
				lost = lost || errors.Is(err, bus.ErrLost) && !errors.Is(err, bus.ErrUnsent)
				return err
			}
			reply, err = codec.DecodeReply(answer)
			return err
		}
		var err error
		if r.line.dial != nil {
			err = try(ctx, r, &r.line, notice, func(l *bus.LocalConn) error { return ask(l) })
		} else {
			err = try(ctx, r, &r.conn, notice, func(c *bus.Conn) error { return ask(c) })
		}
		if err != nil && lost && ctx.Err() == nil && !gdi.Reads(body) {
			return reply, &Unanswered{Request: id, Makes: gdi.Makes(body), Err: err}
		}
		if err != nil || !again(reply) {
			return reply, err
		}
	}
}

// again reports whether qmaster asks to be asked once more: it has waited for what the
// request waits for as long as it does at a time.
func again(reply gdi.Reply) bool {
	return len(reply.Answers) == 1 && reply.Answers[0].Status == gdi.StatusNotYet
}

// Get implements Client.
func (r *Remote) Get(ctx context.Context, get gdi.Get, each func(grid.Object) error) (uint64, error) {
	reply, err := r.requestLists(ctx, &get, func(l events.List) error {
		for _, e := range l.Events {
			if err := each(e.Object); err != nil {
				return err
			}
		}
		return nil
	})
	return reply.Seq, err
}

// Explain asks why tasks wait. It calls each with the lists that come before the answer, see gdi.Explain.
func (r *Remote) Explain(ctx context.Context, b gdi.Explain, each func(events.List) error) (gdi.Reply, error) {
	return r.requestLists(ctx, &b, each)
}

// History writes the log of the cell, or the stretch of it that h names, to out, as
// an archive (pkg/bus): what the user may see of it.
func (r *Remote) History(ctx context.Context, h gdi.History, out io.Writer) error {
	_, err := r.requestChunks(ctx, &h, func(chunk []byte) error {
		_, err := out.Write(chunk)
		return err
	})
	return err
}

// requestLists sends a request that is answered with lists, and calls each with them.
func (r *Remote) requestLists(ctx context.Context, body gdi.Body, each func(events.List) error) (gdi.Reply, error) {
	var dec codec.Decoder
	return r.requestChunks(ctx, body, func(chunk []byte) error { return decodeLists(&dec, chunk, 0, each) })
}

// requestChunks sends a request that is answered in chunks, calls take with them and returns the reply after them. A
// refusal is an error. Once a chunk has come the request is not repeated: take has what was true at another moment.
func (r *Remote) requestChunks(ctx context.Context, body gdi.Body, take func([]byte) error) (gdi.Reply, error) {
	data := codec.AppendRequest(nil, newRequest("", body))
	var reply gdi.Reply
	var begun atomic.Bool
	err := try(ctx, r, &r.conn, r.noticeUnless(&begun), func(conn *bus.Conn) error {
		if begun.Load() {
			return errBroken
		}
		last, err := conn.RequestStream(ctx, bus.CmdSubject(conn.Identity(), body.Verb()), data, func(chunk []byte) error {
			begun.Store(true)
			return take(chunk)
		})
		if err != nil {
			return err
		}
		if reply, err = codec.DecodeReply(last); err == nil && !reply.OK() {
			err = denied(reply)
		}
		return err
	})
	return reply, err
}

// denied is what a refusal says. A qmaster that is going down is as good as none:
// the next one may be asked.
func denied(reply gdi.Reply) error {
	a := reply.Answers[0]
	if a.Status == gdi.StatusShutdown {
		return fmt.Errorf("%w: %s", bus.ErrUnserved, a.Text)
	}
	return &Refused{a}
}

// Refused is the error of a listing or registration that qmaster has refused.
type Refused struct{ Answer gdi.Answer }

// Error is what commands print.
func (r *Refused) Error() string { return "error: " + r.Answer.Text }

// Unwrap returns the answer as an error.
func (r *Refused) Unwrap() error { return &gdi.Refusal{Answer: r.Answer} }

var errBroken = errors.New("error: commlib error: connection to qmaster was lost")

// thisHost is what every request of this process says of its sender: the server authenticates the user, and qmaster
// looks up the rest.
var thisHost = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	return name
})

func newRequest(command string, body gdi.Body) gdi.Request {
	return gdi.Request{ID: newID(), Host: thisHost(), Command: command, Body: body}
}

// newID names a request. Names begin with the time: those of the jobs that come
// in one after the other stand beside each other in qmaster's tables, where
// names without order would be looked for in all of memory.
func newID() string {
	now := binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixNano()))
	return hex.EncodeToString(now) + rand.Text()[:randomLetters]
}

// randomLetters make an id unlike all others of its nanosecond: 80 bits.
const randomLetters = 16
