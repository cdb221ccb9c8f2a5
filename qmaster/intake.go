package qmaster

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/qmaster/core"
)

// intake takes messages from the bus, checks who sent them, and passes them to
// the part of qmaster that they concern.
type intake struct {
	q     *QMaster
	stops []func()
	// dec lets the jobs that come in share what they have in common. Only
	// request, which is called for one message at a time, uses it.
	dec      codec.Decoder
	large    large
	accounts *accounts
}

// open begins to take messages.
func (in *intake) open() error {
	in.accounts = newAccounts()
	in.large.decode, in.large.durable = in.decode, func() { in.q.durable(in.q.ctx) }
	for _, s := range []struct {
		subject string
		handle  func(*bus.Request)
	}{
		{bus.AllCmd, in.request},
		{bus.AllOrder, in.orders},
		{bus.AllRep, in.report},
		{bus.AllReg, in.q.register},
		{bus.AllLoad, in.load},
	} {
		stop, err := in.q.conn.Serve(s.subject, s.handle)
		if err != nil {
			return fmt.Errorf("serving %s: %w", s.subject, err)
		}
		in.stops = append(in.stops, stop)
	}
	return in.q.conn.Announce()
}

// close takes no more messages; those that have come are with the owner.
func (in *intake) close() {
	for _, stop := range in.stops {
		stop()
	}
	in.stops = nil
	in.large.close()
}

// request takes what a user asks for.
func (in *intake) request(r *bus.Request) {
	if !r.From.Role.MayAsk() && r.From.Role != bus.Guest {
		in.q.refuse(r, unread, gdi.StatusDenied, fmt.Sprintf("denied: %s may not send requests", r.From))
		return
	}
	if r.From.Name == "" {
		in.q.refuse(r, unread, gdi.StatusToken, fmt.Sprintf("denied: token %d has expired or was revoked", r.From.Token))
		return
	}
	if text := in.q.memory.refuses(len(r.Data)); text != "" {
		in.q.refuse(r, unread, gdi.StatusDenied, text)
		return
	}
	if len(r.Data) > largeRequest {
		if !in.large.put(r) {
			in.busy(r, unread)
		}
		return
	}
	in.decode(r, &in.dec)
}

// busy has the client repeat a request.
func (in *intake) busy(r *bus.Request, about string) {
	in.q.opts.Metrics.answered(about, busy, time.Time{})
	r.AnswerBusy()
}

// decode decodes a request and passes it to the part of qmaster that answers it.
func (in *intake) decode(r *bus.Request, dec *codec.Decoder) {
	defer in.q.caught(r)
	size := len(r.Data)
	req, err := dec.Request(r.Data)
	if err != nil {
		in.q.refuse(r, unread, gdi.StatusInvalid, fmt.Sprintf("denied: request cannot be read: %v", err))
		return
	}
	if err = req.Complete(); err != nil {
		in.q.refuse(r, unread, gdi.StatusInvalid, fmt.Sprintf("denied: invalid request: %v", err))
		return
	}
	if r.From.Role == bus.Guest {
		if !forGuests(req.Body) {
			in.q.refuse(r, req.Body.Verb(), gdi.StatusDenied, "denied: log in first: quill login")
			return
		}
		req.User, req.Group, req.UID, req.GID = "", "", 0, 0
	} else if !in.accounts.identify(&req, r.From.Name) {
		in.busy(r, req.Body.Verb())
		return
	}
	req.Token = r.From.Token
	if r.Local() || in.q.server != nil && in.q.opts.Listen == "" {
		req.Host = in.q.opts.Host // whatever the sender says: over the network a key does not prove a host
	}
	if text := in.q.memory.short(req.Body); text != "" {
		if _, waits := req.Body.(*gdi.Wait); waits { // for a job that may end meanwhile
			in.busy(r, req.Body.Verb())
			return
		}
		in.q.refuse(r, req.Body.Verb(), gdi.StatusDenied, text)
		return
	}
	switch b := req.Body.(type) {
	case *gdi.Get:
		in.q.list(r, req, *b)
		return
	case *gdi.History:
		in.q.history(r, req, *b)
		return
	case *gdi.Explain:
		in.q.explain(r, req, b)
		return
	case *gdi.Streams:
		if !in.q.places.ask(r, req) {
			in.busy(r, b.Verb())
		}
		return
	case *gdi.LogIn:
		if r.Data = nil; !in.q.logIns.enqueue(r, req, b) {
			in.busy(r, b.Verb())
		}
		return
	}
	r.Data = nil // it may wait for long
	if in.q.owner.verifier.enqueue(r, req, size) {
		return
	}
	in.q.owner.submit(input{asker: r, about: req.Body.Verb(), make: func(ref uint64) core.Input {
		return core.UserRequest{Ref: ref, Request: req}
	}})
}

// forGuests reports whether clients without credentials may send a request.
func forGuests(b gdi.Body) bool {
	switch b.(type) {
	case *gdi.WaysToLogIn, *gdi.LogIn:
		return true
	}
	return false
}

// orders takes the list of a scheduler's run.
func (in *intake) orders(r *bus.Request) {
	list, err := codec.DecodeOrders(r.Data)
	if err != nil {
		in.q.log.Warn("orders cannot be read", "user", r.From, "error", err)
		return
	}
	if list.Scheduler != r.From.Name {
		list.Scheduler = r.From.Name
		r.Data = codec.AppendOrders(nil, list)
	}
	if len(list.Orders) == 0 { // a run is over: there is nothing to decide
		result := codec.AppendResult(nil, orders.Answer{})
		in.q.record.put(r.Data, result)
		in.q.opts.Metrics.answered("orders", gdi.StatusOK.Code(), time.Time{})
		if err := r.Answer(result); err != nil {
			in.q.log.Warn("answer cannot be sent", "user", r.From, "error", err)
		}
		return
	}
	in.q.owner.submit(input{asker: r, about: "orders", make: func(ref uint64) core.Input {
		return core.Orders{Ref: ref, List: list}
	}})
}

// report takes what an execution daemon says and wants to be sure of.
func (in *intake) report(r *bus.Request) {
	rep, err := codec.DecodeReport(r.Data)
	if err != nil {
		in.q.log.Warn("report cannot be read", "user", r.From, "error", err)
		return
	}
	rep.Host = r.From.Name
	in.q.opts.Metrics.host(rep.Host)
	in.q.owner.submit(input{asker: r, about: "report", make: func(ref uint64) core.Input {
		return core.Report{Ref: ref, Report: rep}
	}})
}

// load receives load values. The answer says that they have arrived, not that they are
// durable.
func (in *intake) load(r *bus.Request) {
	rep, err := codec.DecodeReport(r.Data)
	if err != nil {
		return
	}
	if rep.Host != grid.GlobalHost { // what a load sensor says of the whole cluster
		rep.Host = r.From.Name
	}
	in.q.owner.loads.put(rep)
	in.q.opts.Metrics.host(rep.Host)
	in.q.opts.Metrics.answered("load", gdi.StatusOK.Code(), time.Time{})
	r.Answer(nil)
}

// caught is deferred where a request is handled beside the core. A panic is an internal
// error for who sent the request, and not the end of qmaster: what runs there reads a
// copy of the state, or has nothing of it. One of the owner continues.
func (q *QMaster) caught(r *bus.Request) {
	if why := recover(); why != nil {
		if fatal, is := why.(inconsistent); is {
			panic(fatal)
		}
		q.log.Error("internal error", "user", r.From.Name, "error", why, "stack", string(debug.Stack()))
		q.refuse(r, unread, gdi.StatusInvalid, "denied: internal error of qmaster; its log says more")
	}
}

// unread is what a request is about that cannot be or is not decoded.
const unread = "unread"

// refuse answers a request that never gets to the core.
func (q *QMaster) refuse(r *bus.Request, about string, status gdi.Status, text string) {
	q.opts.Metrics.answered(about, status.Code(), time.Time{})
	r.Answer(codec.AppendReply(nil, gdi.Reply{Answers: []gdi.Answer{gdi.Deny(status, text)}}))
}

// answer puts the core's answer to a request into the outbox, which sends it.
func (q *QMaster) answer(w waiter, a core.Answer) {
	if w.asker == nil {
		return
	}
	q.opts.Metrics.answered(w.about, outcomeOf(a), w.since)
	var data []byte
	switch {
	case a.Reply != nil:
		for _, one := range a.Reply.Answers {
			if why, text, refused := one.LogInRefused(); refused {
				q.log.Warn("log-in refused", "user", w.asker.From.Name, "reason", why, "error", text)
			}
		}
		data = codec.AppendReply(nil, *a.Reply)
	case a.Result != nil:
		data = codec.AppendResult(nil, *a.Result)
		q.record.put(w.asker.Data, data)
	case a.Receipt != nil:
		data = codec.AppendReceipt(nil, *a.Receipt)
	}
	if err := q.outbox.post.Add(w.asker, data); err != nil {
		q.log.Warn("answer cannot be sent", "user", w.asker.From, "error", err)
	}
}

// send sends a command to an execution daemon. The core repeats it until an event confirms it.
func (q *QMaster) send(c core.Command) {
	if err := q.poster.Post(bus.HostCmdSubject(c.Host), c.Number, codec.AppendCommand(nil, c.Command)); err != nil {
		q.log.Warn("command cannot be sent", "host", c.Host, "error", err)
	}
}

// noteUndelivered notes that a command came back.
func (q *QMaster) noteUndelivered(subject string, number uint64) {
	back := core.Undelivered{Host: bus.HostOfCmd(subject), Number: number}
	q.owner.submit(input{make: func(uint64) core.Input { return back }})
}

// loads keeps the latest load values of each host until the next tick.
type loads struct {
	mu     sync.Mutex
	latest map[string]report.Report
}

func (l *loads) put(r report.Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest == nil {
		l.latest = map[string]report.Report{}
	}
	l.latest[r.Host] = r
}

// drain returns the loads since the last call, hosts in no order.
func (l *loads) drain() []report.Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]report.Report, 0, len(l.latest))
	for _, r := range l.latest {
		out = append(out, r)
	}
	clear(l.latest)
	return out
}
