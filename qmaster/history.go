package qmaster

import (
	"errors"
	"github.com/quill-grid/quill/events"
	"time"

	"github.com/quill-grid/quill/qmaster/core/authorize"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/state"
)

// history sends the log as an archive: all of it to daemons and managers; to other users
// what the public feed shows, without the records of scheduling runs.
func (q *QMaster) history(r *bus.Request, req gdi.Request, h gdi.History) {
	q.stream(stream{request: r, about: h.Verb(), places: q.streams.reading,
		write: func(s *state.State, send func([]byte) error) ([]byte, error) {
			if refusal := authorize.Request(s, q.now(), req); refusal != nil {
				return codec.AppendReply(nil, gdi.Reply{Answers: []gdi.Answer{*refusal}}), nil
			}
			e := history.Export{Kept: true, Lists: h.Lists, About: history.About{Made: grid.TimeOf(time.Now())}}
			if r.From.Role != bus.Admin && !s.IsManager(req.User) {
				e.Show, e.About.Partial = events.List.Public, true
				e.Run = func(orders.Record) (orders.Record, bool) { return orders.Record{}, false }
			}
			yields, done := q.snaps.read() // or what is read now would be gone then
			defer done()
			log, err := q.past()
			if err != nil {
				return nil, err
			}
			defer log.Close()
			store := log.Store()
			e.About.Store = &store
			if e.From, err = log.At(h.From); err != nil {
				return nil, err
			}
			if e.To, err = log.At(h.To); err != nil {
				return nil, err
			}
			out := &packets{send: func(b []byte) error {
				if err := yields(); err != nil {
					return err
				}
				return send(b)
			}}
			err = log.Export(out, e)
			if damage := (*frame.Damage)(nil); errors.As(err, &damage) {
				q.log.Error("the log is damaged", "error", damage)
				err = nil // who reads it finds the end before the cell's
			}
			return codec.AppendReply(nil, gdi.Reply{Seq: s.Seq}), errors.Join(err, out.flush())
		}})
}

// past is the log as it lies there, up to what is durable now. While it is read,
// retiring is held.
func (q *QMaster) past() (*history.Log, error) {
	return history.Within(q.opts.Cell.Name, q.events, q.conn, q.snaps.store, q.snaps.segments)
}

// packets gathers bytes and sends them when there are enough.
type packets struct {
	send func([]byte) error
	buf  []byte
}

func (p *packets) Write(b []byte) (int, error) {
	n := len(b)
	for len(p.buf)+len(b) >= codec.ChunkBytes {
		room := codec.ChunkBytes - len(p.buf)
		p.buf = append(p.buf, b[:room]...)
		b = b[room:]
		if err := p.flush(); err != nil {
			return 0, err
		}
	}
	p.buf = append(p.buf, b...)
	return n, nil
}

func (p *packets) flush() error {
	if len(p.buf) == 0 {
		return nil
	}
	err := p.send(p.buf)
	p.buf = p.buf[:0]
	return err
}
