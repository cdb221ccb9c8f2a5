package qmaster

import (
	"context"
	"fmt"
	"time"

	"github.com/quill-grid/quill/qmaster/core/authorize"

	"golang.org/x/sync/singleflight"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/qmaster/core"
)

// placesWait is how long the server may take to say where the streams are stored.
const placesWait = 5 * time.Second

// places answers where the streams of the cell are stored. Only clients that ask wait for the server, which gets one
// request at a time, for all who wait then. No answer is kept: a client that shows it often, such as quill web, knows
// how old it may be.
type places struct {
	q    *QMaster
	free *fair.Places
	one  singleflight.Group
}

func newPlaces(q *QMaster) *places {
	return &places{q: q, free: fair.NewPlaces("requests for where the log is stored", fair.Limits{Total: 64, User: 8})}
}

// ask answers a client; false: too many wait.
func (p *places) ask(r *bus.Request, req gdi.Request) bool {
	who := r.FairUser()
	if p.free.Enter(who, 1) != nil {
		return false
	}
	r.Data = nil
	began := time.Now()
	go func() {
		defer p.free.Leave(who, 1)
		defer p.q.caught(r)
		ctx, cancel := context.WithTimeout(p.q.ctx, placesWait)
		defer cancel()
		reply := p.reply(ctx, req)
		p.q.opts.Metrics.answered(req.Body.Verb(), outcomeOf(core.Answer{Reply: &reply}), began)
		if err := r.Answer(codec.AppendReply(nil, reply)); err != nil {
			p.q.log.Warn("answer cannot be sent", "user", r.From, "error", err)
		}
	}()
	return true
}

func (p *places) reply(ctx context.Context, req gdi.Request) gdi.Reply {
	s, err := p.q.durable(ctx)
	if err != nil {
		return gdi.Reply{Answers: []gdi.Answer{gdi.Deny(gdi.StatusShutdown, errGoing.Error())}}
	}
	if refusal := authorize.Request(s, p.q.now(), req); refusal != nil {
		return gdi.Reply{Answers: []gdi.Answer{*refusal}}
	}
	streams, err := p.read(ctx)
	if err != nil {
		return gdi.Reply{Answers: []gdi.Answer{
			gdi.Deny(gdi.StatusNoDaemon, fmt.Sprintf("the NATS server was not asked where the log is stored: %v", err))}}
	}
	return gdi.Reply{Answers: []gdi.Answer{gdi.Done("")}, Streams: streams}
}

// read returns what the server says, to this client or to one that asked just before.
func (p *places) read(ctx context.Context) ([]gdi.Stream, error) {
	answer := p.one.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(p.q.ctx, placesWait)
		defer cancel()
		found, err := p.q.conn.StreamPlacements(ctx)
		return p.streams(found), err
	})
	select {
	case a := <-answer:
		return a.Val.([]gdi.Stream), a.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// streams returns what a request is answered with.
func (p *places) streams(found []bus.StreamPlacement) (out []gdi.Stream) {
	for _, f := range found {
		one := gdi.Stream{Name: f.Stream, Leader: f.Leader, Messages: f.Messages, Bytes: f.Bytes}
		if !f.Clustered && p.q.server != nil {
			one.Leader = p.q.opts.Host // the name of the embedded server says nothing
		}
		for _, c := range f.Replicas {
			one.Replicas = append(one.Replicas, gdi.Replica{Server: c.Server, Current: c.Current, Offline: c.Offline, Lag: c.Lag,
				Silent: c.Silent.Seconds()})
		}
		out = append(out, one)
	}
	return out
}
