package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/events/filter"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/past"
	"github.com/quill-grid/quill/tools/web/problem"
)

const (
	typeEvents = "text/event-stream"
	// markEvery is how often a stream says how far it is when no event passes, and whether its token is still valid is
	// checked.
	markEvery = 5 * time.Second
	// readWait is how long a reader may take for what was sent.
	readWait = 10 * time.Second
)

// Why a stream ends.
const (
	endSlow  = "slow"       // the reader lags too far
	endStop  = "stop"       // the server stops
	endToken = "token"      // the token is not valid any more
	endLog   = "not-in-log" // the log does not have the next list
	endTo    = "to"         // ?to= was reached
)

// eventsQuery selects events; the conditions are those of qevent.
type eventsQuery struct {
	Accept      string `header:"Accept" doc:"text/event-stream, which is the default, or application/x-ndjson"`
	Encoding    string `header:"Accept-Encoding" doc:"with gzip the stream comes compressed"`
	LastEventID string `header:"Last-Event-ID" doc:"id of the last event that was received: the stream continues with the next list"`
	From        string `query:"from" doc:"number of the first event list, or a time as of qevent -from; without it what happens from now on" example:"4711"`
	To          uint64 `query:"to" doc:"number of the last event list: the stream ends after it"`
	Kind        string `query:"kind" doc:"events of these kinds or of these names: JOB, JATASK_MOD"`
	Job         string `query:"job" doc:"a job, job.task or job.first-last, and what concerns it"`
	User        string `query:"user" doc:"what belongs to these users"`
	Host        string `query:"host" doc:"what concerns these hosts, and the tasks that run on them"`
	Queue       string `query:"queue" doc:"what concerns these queues or queue instances, and the tasks that run in them"`
	Cause       string `query:"cause" doc:"what these commands, messages or senders caused: qsub, orders, alice@*"`
	Has         string `query:"has" doc:"events whose line of text contains one of these: state=running"`
}

func newReaders() *fair.Places {
	return fair.NewPlaces("web readers of events", fair.Limits{Total: 4000, User: 1000})
}

// filter returns the conditions. The error is a problem.
func (q *eventsQuery) filter() (*filter.Filter, error) {
	f := &filter.Filter{}
	for _, c := range []struct{ name, value string }{{"kind", q.Kind}, {"job", q.Job}, {"user", q.User}, {"host", q.Host},
		{"queue", q.Queue}, {"cause", q.Cause}, {"has", q.Has}} {
		if c.value == "" {
			continue
		}
		if err := f.Add(c.name, c.value); err != nil {
			return nil, problem.Invalid("query."+c.name, err)
		}
	}
	return f, nil
}

// conditions returns what the filter is made of: two streams with the same one send the same.
func (q *eventsQuery) conditions() string {
	return strings.Join([]string{q.Kind, q.Job, q.User, q.Host, q.Queue, q.Cause, q.Has}, "\x00")
}

// streaming is an answer that does not end.
type streaming struct {
	Sequence uint64 `header:"Quill-Sequence" doc:"number of the event list after which the stream begins"`
	Body     func(huma.Context)
}

func (s *handlers) registerEvents() {
	op := operation(http.MethodGet, "/v1/events", "stream-events", "events",
		"Events, from any point of the log on, without a gap")
	op.Description =
		"Each event is a JSON object. The id of server-sent events is the number of the event list; an interrupted reader sends it as Last-Event-ID, " +
			"a reader of lines asks for from= the seq of the last line, whose list is sent again. A reader that is too slow is cut off: the last object has end and resume, " +
			"the number to continue with. An id, or a line with seq alone, says that all up to this list was sent."
	schema := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[document.Event](), true, "Event")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "OK", Content: map[string]*huma.MediaType{typeEvents: {Schema: schema}, typeNDJSON: {Schema: schema}}}}
	huma.Register(s.api, op, s.streamEvents)
}

func (s *handlers) streamEvents(ctx context.Context, in *eventsQuery) (*streaming, error) {
	chosen, err := in.filter()
	if err != nil {
		return nil, err
	}
	r := &stream{server: s, filter: chosen, conditions: in.conditions(), to: in.To,
		account: entry.AccountOf(ctx), ctx: ctx}
	if acceptedType(in.Accept, typeEvents, typeNDJSON) == typeNDJSON {
		r.form = mirror.Lines
	}
	if acceptsGzip(in.Encoding) {
		r.zip = new(mirror.Checksum)
	}
	if r.leave, err = s.readers.Wait(ctx, entry.UserOf(ctx), 1); err != nil {
		return nil, problem.NoPlace(err, "readers of events")
	}
	if s.readers.Of(entry.UserOf(ctx)) > mirror.FewMost {
		r.crowd = mirror.Many
	}
	s.mirror.Hub.Join(r.crowd, chosen.NeedsState())
	if err := r.findBegin(in); err != nil {
		r.close()
		return nil, err
	}
	return &streaming{Sequence: r.last, Body: func(h huma.Context) {
		defer r.close()
		_, w := humago.Unwrap(h)
		h.SetHeader("Content-Type", [...]string{typeEvents, typeNDJSON}[r.form])
		unbuffered(h)
		if h.Version().ProtoMajor == 1 { // without chunks each batch is one write; the connection ends with the stream
			h.SetHeader("Transfer-Encoding", "identity")
		}
		h.SetHeader("Vary", "Accept, Accept-Encoding")
		if r.zip != nil {
			h.SetHeader("Content-Encoding", "gzip")
		}
		h.SetStatus(http.StatusOK)
		r.sendAll(w)
	}}, nil
}

// stream is one reader of events.
type stream struct {
	server  *handlers
	ctx     context.Context
	account entry.Account
	filter  *filter.Filter
	// conditions are those of filter, as text.
	conditions string
	form       mirror.Form
	last       uint64     // the last list that was sent
	to         uint64     // 0: no end
	broken     int        // see Hub.NextAfter
	past       *past.Turn // opened by begin for the lists after last
	leave      func()     // ends the place among the readers
	crowd      mirror.Crowd
	w          http.ResponseWriter
	control    *http.ResponseController
	buf        []byte
	zip        *mirror.Checksum // of what was sent; nil: it is not compressed
	until      time.Time        // the deadline that was set for writing
}

func (r *stream) close() {
	r.server.mirror.Hub.Leave(r.crowd, r.filter.NeedsState())
	r.leave()
	if r.past != nil {
		r.past.Close()
	}
}

// findBegin finds where the stream begins. The error is a problem.
func (r *stream) findBegin(in *eventsQuery) error {
	s := r.server
	now, err := s.mirror.Seq()
	if now == 0 && err != nil {
		return problem.NoMirror(err)
	}
	where, text := "query.from", in.From
	var m gdi.Place
	switch {
	case in.LastEventID != "":
		where = "header.Last-Event-ID"
		if r.last, err = strconv.ParseUint(in.LastEventID, 10, 64); err != nil {
			return problem.Invalid(where, fmt.Errorf("%q is not the number of an event list", in.LastEventID))
		}
	case text == "":
		r.last = now
	default:
		if m, err = opt.ParseMoment(text, s.options.Now()); err != nil {
			return problem.Invalid(where, err)
		}
		r.last = max(m.Seq, 1) - 1
		if m.At != 0 {
			return r.findBeginAt(m.At)
		}
	}
	if r.last > now && !s.mirror.WaitFor(r.ctx, r.last, reachWait) {
		return problem.New(http.StatusUnprocessableEntity, problem.TypeInvalid, where,
			fmt.Sprintf("event list %d has not happened yet: the last one is %d", r.last, now))
	}
	_, _, has, broken := s.mirror.Hub.NextAfter(r.last, r.crowd)
	r.broken = broken
	if !has || r.filter.NeedsState() && r.last < now {
		return r.openLog(where)
	}
	return nil
}

// findBeginAt finds the first list that is not before a time.
func (r *stream) findBeginAt(t grid.Time) error {
	p, err := r.server.reader.Open(r.ctx, gdi.Place{At: t}, gdi.Place{}, false)
	if err != nil {
		return err
	}
	r.past = p
	first, last := p.Span()
	switch {
	case t > last.At:
		r.last = last.Seq
	case t <= first.At:
		if r.last = first.Seq - 1; first.Seq > 1 {
			return problem.New(http.StatusGone, problem.TypeGone, "query.from",
				fmt.Sprintf("the log begins at %s", first.At.Std().UTC().Format(time.RFC3339)))
		}
	default:
		if r.last, err = p.SeqAt(t - 1); err != nil {
			return problem.Unreachable(err)
		}
	}
	_, _, _, r.broken = r.server.mirror.Hub.NextAfter(r.last, r.crowd)
	p.Pause()
	return nil
}

// openLog opens the log for the lists after the last one.
func (r *stream) openLog(where string) error {
	lists, from := true, r.last+1
	if r.filter.NeedsState() { // what was before them
		lists, from = false, max(r.last, 1)
	}
	p, err := r.server.reader.Open(r.ctx, gdi.Place{Seq: from}, gdi.Place{}, lists)
	if err != nil {
		return err
	}
	if first, _ := p.Span(); first.Seq > from {
		defer p.Close()
		return past.Gone(where, r.last+1, p)
	}
	r.past = p
	p.Pause()
	return nil
}

// sendAll sends events until the reader goes or the stream ends.
func (r *stream) sendAll(w http.ResponseWriter) {
	r.w, r.control = w, http.NewResponseController(w)
	_ = r.control.SetReadDeadline(time.Time{}) // that of a whole request is over soon
	if r.zip != nil {
		if _, err := w.Write(mirror.GzipHead); err != nil {
			return
		}
	}
	if !r.sendMark() || r.endIfReached() {
		return
	}
	tick := time.NewTicker(markEvery)
	defer tick.Stop()
	for {
		if r.past != nil && !r.catchUp() {
			return
		}
		last, wake, has, broken := r.server.mirror.Hub.NextAfter(r.last, r.crowd)
		if !has {
			if broken == r.broken {
				r.sendEnd(endSlow)
				return
			}
			if r.broken = broken; r.openLog("") != nil {
				r.sendEnd(endLog)
				return
			}
			continue
		}
		if last > 0 {
			if !r.send(last) {
				return
			}
			continue
		}
		select {
		case <-wake:
		case <-tick.C:
			if !r.isTokenValid() {
				r.sendEnd(endToken)
				return
			}
			if !r.sendMark() {
				return
			}
		case <-r.ctx.Done():
			r.sendEnd(endStop)
			return
		}
	}
}

func (r *stream) isTokenValid() bool {
	at, err := r.server.mirror.Now()
	return err == nil && r.account.Valid(at.State, grid.TimeOf(r.server.options.Now()))
}

// send sends lists of the hub up to one. Those that it has not any more are not sent: the reader is found to lag. It
// reports whether the stream continues.
func (r *stream) send(last uint64) bool {
	if after := r.last; !r.filter.NeedsState() && (r.to == 0 || last <= r.to) {
		key := mirror.BatchKey{After: after, Last: last, Form: r.form, Conditions: r.conditions}
		b := r.server.mirror.Hub.Batch(key, func() (all []byte, has bool) {
			next := r.server.mirror.Hub.ListsBetween(after, last)
			for _, e := range next {
				all = e.Append(all, r.form, r.filter)
			}
			return all, next != nil
		})
		text, has := b.Text()
		if !has {
			return true
		}
		r.last = last
		if r.zip == nil || len(text) == 0 {
			return r.write(text) && !r.endIfReached()
		}
		return r.writePiece(b.Piece()) && !r.endIfReached()
	}
	for _, e := range r.server.mirror.Hub.ListsBetween(r.last, last) {
		if r.to > 0 && e.List.Seq > r.to {
			break
		}
		r.buf = e.Append(r.buf, r.form, r.filter)
		r.last = e.List.Seq
	}
	return r.flush() && !r.endIfReached()
}

// endIfReached ends a stream that was asked for up to a list.
func (r *stream) endIfReached() bool {
	if r.to == 0 || r.last < r.to {
		return false
	}
	r.sendEnd(endTo)
	return true
}

// errEnough ends reading of the log.
var errEnough = errors.New("the hub has the rest")

// catchUp sends the lists of the log up to those of the hub. It reports whether the stream continues.
func (r *stream) catchUp() bool {
	defer func() { r.past.Close(); r.past = nil }()
	if r.past.Resume() != nil {
		r.sendEnd(endStop)
		return false
	}
	var before *state.State
	if r.filter.NeedsState() {
		var err error
		if before, err = r.past.Full(max(r.last, 1)); err != nil || r.last > 0 && before.Seq != r.last {
			r.sendEnd(endLog)
			return false
		}
		if r.last == 0 {
			before = state.New()
		}
	}
	err := r.sendPast(before)
	r.past.Pause()
	if errors.Is(err, errEnough) {
		err = nil
	}
	if err != nil {
		return false
	}
	return r.flush() && !r.endIfReached()
}

func (r *stream) sendPast(before *state.State) error {
	for l, err := range r.past.Lists(r.last + 1) {
		switch {
		case err != nil || l.Seq > r.last+1: // damage
			r.past.Pause()
			r.sendEnd(endLog)
			return err
		case l.Seq <= r.last:
			continue
		case r.to > 0 && l.Seq > r.to, r.ctx.Err() != nil:
			return errEnough
		}
		r.sendList(l.Public(), before)
		if before != nil {
			before.Apply(l)
		}
		r.last = l.Seq
		if len(r.buf) > 32<<10 {
			r.past.Pause()
			if !r.flush() {
				return r.ctx.Err()
			}
			if err := r.past.Resume(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *stream) sendList(l events.List, before *state.State) {
	all := mirror.PrintEvents(&l)
	if !r.filter.Empty() {
		all = mirror.SelectPrinted(&l, all, r.filter, mirror.MemoryOf(before))
	}
	r.buf = r.form.AppendList(r.buf, l.Seq, all)
}

func (r *stream) sendMark() bool {
	r.buf = r.form.AppendMark(r.buf, r.last)
	return r.flush()
}

func (r *stream) sendEnd(reason string) {
	r.buf = r.form.AppendEnd(r.buf, reason, r.last+1)
	if r.flush() && r.zip != nil {
		r.writeAll(r.zip.AppendGzipEnd(nil))
	}
}

// flush sends what was printed. It reports whether the reader has taken it.
func (r *stream) flush() bool {
	ok := r.write(r.buf)
	r.buf = r.buf[:0]
	return ok
}

// write sends a text. It reports whether the reader has taken it.
func (r *stream) write(text []byte) bool {
	switch {
	case len(text) == 0:
		return true
	case r.zip != nil:
		return r.writePiece(mirror.Compress(text))
	}
	return r.writeAll(text)
}

func (r *stream) writePiece(p mirror.Piece) bool {
	r.zip.Add(p)
	return r.writeAll(p.Deflated)
}

// writeAll sends bytes as they are.
func (r *stream) writeAll(b []byte) bool {
	if now := time.Now(); r.until.Sub(now) < readWait { // it is set once a second, not with each of many small texts
		r.until = now.Add(readWait + time.Second)
		_ = r.control.SetWriteDeadline(r.until)
	}
	_, err := r.w.Write(b)
	if err == nil {
		err = r.control.Flush()
	}
	return err == nil
}
