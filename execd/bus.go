package execd

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/report"
)

// Link is the Transport over the cell's bus, under the host's identity.
type Link struct {
	conn     *bus.Conn
	host     string
	commands chan report.Command
	reads    chan ReadRequest
	back     chan struct{} // capacity 1
	stops    []func()
}

// commandsMax bounds the commands that wait for execd. One too many is dropped:
// qmaster sends it again.
const commandsMax = 1024

// readsMax bounds the requests for parts of output files that wait for execd: one too many is refused.
const readsMax = 64

// Dial connects to the cell, for ever if need be: it fails only when ctx ends
// or the cell refuses this host.
func Dial(ctx context.Context, o bus.ConnOptions, log hclog.Logger) (*Link, error) {
	o.Stay = true
	back, reconnected := make(chan struct{}, 1), o.Back
	o.Back = func() {
		select {
		case back <- struct{}{}:
		default:
		}
		if reconnected != nil {
			reconnected()
		}
	}
	for attempts := 0; ; attempts++ {
		conn, err := bus.Connect(o)
		if err == nil {
			var l *Link
			if l, err = NewLink(conn); err == nil {
				l.back = back
				return l, nil
			}
			conn.Close()
			if errors.Is(err, bus.ErrRefused) {
				return nil, err
			}
		}
		wait := bus.ReconnectWait(bus.Host, attempts)
		log.Warn("cell not reachable", "error", err, "retry", wait)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// NewLink makes a Transport of a connection under a host's identity. Close
// closes the connection too.
func NewLink(conn *bus.Conn) (*Link, error) {
	l := &Link{conn: conn, host: conn.Identity().Name, commands: make(chan report.Command, commandsMax),
		reads: make(chan ReadRequest, readsMax)}
	for subject, handle := range map[string]func(*bus.Request){bus.HostCmdSubject(l.host): l.handleCommand,
		bus.HostReadSubject(l.host): l.handleRead} {
		stop, err := conn.Serve(subject, handle)
		if err != nil {
			return nil, err
		}
		l.stops = append(l.stops, stop)
	}
	return l, nil
}

// handleRead passes a request on for a part of an output file.
func (l *Link) handleRead(r *bus.Request) {
	read, err := codec.DecodeRead(r.Data)
	if err != nil {
		return // of a qmaster of another version: it does not wait for long
	}
	answer := func(p report.Piece) { r.Answer(codec.AppendPiece(nil, p)) }
	select {
	case l.reads <- ReadRequest{read, answer}:
	default:
		answer(
			report.Piece{Refused: report.TooMany, Text: "too many output files are being read at present: try again later"})
	}
}

// handleCommand acknowledges a message once it is accepted: not carried out yet, but execd
// carries it out or ends.
func (l *Link) handleCommand(r *bus.Request) {
	c, err := codec.DecodeCommand(r.Data)
	if err != nil {
		return // sent again by a qmaster of this version
	}
	select {
	case l.commands <- c:
		r.Answer(nil)
	default:
	}
}

// Report implements Transport.
func (l *Link) Report(ctx context.Context, r report.Report) (report.Receipt, error) {
	answer, err := l.conn.Request(ctx, bus.HostRepSubject(l.host), codec.AppendReport(nil, r))
	if err != nil {
		return report.Receipt{}, err
	}
	return codec.DecodeReceipt(answer)
}

// Load implements Transport. Only the connection waits for the answer: a host
// that has nothing else to say finds so that qmaster is at another server.
func (l *Link) Load(r report.Report) error {
	data := codec.AppendReport(nil, r)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), reportWait)
		defer cancel()
		l.conn.Request(ctx, bus.LoadSubject(l.host), data)
	}()
	return nil
}

// Commands implements Transport.
func (l *Link) Commands() <-chan report.Command { return l.commands }

// Reads implements Transport.
func (l *Link) Reads() <-chan ReadRequest { return l.reads }

// Back implements Transport.
func (l *Link) Back() <-chan struct{} { return l.back }

// Close ends the connection.
func (l *Link) Close() {
	for _, stop := range l.stops {
		stop()
	}
	l.conn.Close()
}
