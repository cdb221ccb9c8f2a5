package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/negotiation"

	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/problem"
)

const (
	typeJSON   = "application/json"
	typeNDJSON = "application/x-ndjson"
)

// Reading is what every GET of the state may have.
type Reading struct {
	At          string `query:"at" doc:"the answer as of this event list or time: 4711, 2026-11-21T14:03:20Z, 14:03:20, -10m (before now)" example:"-10m"`
	After       uint64 `query:"after" doc:"wait, for at most 10 seconds, until the answer includes the event list of this number: the Quill-Sequence of an answer to a request that changed something" example:"4711"`
	IfNoneMatch string `header:"If-None-Match" doc:"the ETag of an earlier answer: 304 when nothing has changed"`
}

func (r *Reading) place() *Reading { return r }

// reader is an input with a Reading.
type reader interface{ place() *Reading }

// readMoment returns the cell as a request wants to see it. The error is a problem.
func (s *handlers) readMoment(ctx context.Context, r *Reading) (mirror.Moment, error) {
	at, err := s.moment(ctx, r)
	if err != nil {
		return at, err
	}
	tag := etag(at.State.Seq)
	if r.IfNoneMatch != "" && r.IfNoneMatch == tag {
		h := http.Header{"Etag": {tag}, sequenceHeader: {strconv.FormatUint(at.State.Seq, 10)}}
		return at, huma.ErrorWithHeaders(huma.Status304NotModified(), h)
	}
	return at, nil
}

// moment returns the cell as a request wants to see it.
func (s *handlers) moment(ctx context.Context, r *Reading) (at mirror.Moment, err error) {
	if r.After > 0 && !s.mirror.WaitFor(ctx, r.After, reachWait) {
		seq, _ := s.mirror.Seq()
		return at, problem.New(http.StatusServiceUnavailable, problem.TypeLag, "query.after",
			fmt.Sprintf("event list %d has not been received; the last one is %d", r.After, seq))
	}
	if r.At != "" {
		return s.reader.At(ctx, r.At)
	}
	if at, err = s.mirror.Now(); err != nil {
		return at, problem.NoMirror(err)
	}
	at.Now = grid.TimeOf(s.options.Now())
	return at, nil
}

const sequenceHeader = "Quill-Sequence"

// etag is weak: another list may have changed nothing of the answer.
func etag(seq uint64) string { return `W/"` + strconv.FormatUint(seq, 10) + `"` }

// reply is an answer of one object.
type reply[T any] struct {
	Sequence uint64 `header:"Quill-Sequence" doc:"number of the last event list in the answer"`
	ETag     string `header:"ETag"`
	Body     T
}

// listing is an answer of rows.
type listing struct {
	Sequence uint64 `header:"Quill-Sequence" doc:"number of the last event list in the answer"`
	ETag     string `header:"ETag"`
	Vary     string `header:"Vary"`
	Body     func(huma.Context)
}

// page is the JSON of a listing.
type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty" doc:"cursor of the next page; absent on the last one"`
}

// rows are the items of a page of a listing, and its next, or all that are selected.
type rows[T any] struct {
	items iter.Seq[T]
	next  string
}

// operation returns what all routes have.
func operation(method, path, id, tag, summary string) huma.Operation {
	return huma.Operation{Method: method, Path: path, OperationID: id, Summary: summary, Tags: []string{tag},
		MaxBodyBytes: bodyMax, BodyReadTimeout: requestWait}
}

// registerObject registers a route that answers with one object.
func registerObject[I, T any, P interface {
	*I
	reader
}](s *handlers, op huma.Operation, make func(ctx context.Context, in *I, at mirror.Moment) (T, error)) {
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*reply[T], error) {
		at, err := s.readMoment(ctx, P(in).place())
		if err != nil {
			return nil, err
		}
		body, err := make(ctx, in, at)
		if err != nil {
			return nil, err
		}
		return &reply[T]{Sequence: at.State.Seq, ETag: etag(at.State.Seq), Body: body}, nil
	})
}

// newAnswers returns the places of listings: the rows of one are kept until the client has read it.
func newAnswers() *fair.Places {
	return fair.NewPlaces("web listings", fair.Limits{Total: 256, User: 16, Reserve: 16, Waiting: 256})
}

// registerListing registers a route that answers with rows: a page of them, or with Accept: application/x-ndjson all
// that are selected, a line each.
func registerListing[I, T any, P interface {
	*I
	reader
}](s *handlers, op huma.Operation, make func(ctx context.Context, in *I, at mirror.Moment, all bool) (rows[T], error)) {
	schemas := s.api.OpenAPI().Components.Schemas
	op.Responses = map[string]*huma.Response{"200": {
		Description: "OK",
		Content: map[string]*huma.MediaType{
			typeJSON:   {Schema: schemas.Schema(reflect.TypeFor[page[T]](), true, op.OperationID)},
			typeNDJSON: {Schema: schemas.Schema(reflect.TypeFor[T](), true, op.OperationID)},
		},
	}}
	op.Middlewares = append(op.Middlewares, func(ctx huma.Context, next func(huma.Context)) {
		next(huma.WithValue(ctx, linesKey{}, strings.Contains(ctx.Header("Accept"), typeNDJSON)))
	})
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*listing, error) {
		at, err := s.readMoment(ctx, P(in).place())
		if err != nil {
			return nil, err
		}
		leave, err := s.answers.Wait(ctx, entry.UserOf(ctx), 1)
		if err != nil {
			return nil, problem.NoPlace(err, "listings")
		}
		lines := ctx.Value(linesKey{}).(bool)
		items, err := make(ctx, in, at, lines)
		if err != nil {
			leave()
			return nil, err
		}
		out := &listing{Sequence: at.State.Seq, ETag: etag(at.State.Seq), Vary: "Accept", Body: func(h huma.Context) {
			defer leave()
			if lines {
				writeLines(h, items.items)
			} else {
				writePage(h, items)
			}
		}}
		return out, nil
	})
}

type linesKey struct{}

// writePage writes a page while its rows are made.
func writePage[T any](h huma.Context, r rows[T]) {
	w := beginAnswer(h, typeJSON)
	fmt.Fprint(w, `{"items":[`)
	out, separator := newEncoder(w), ""
	for item := range r.items {
		fmt.Fprint(w, separator)
		if out.Encode(item) != nil {
			return
		}
		separator = ","
	}
	fmt.Fprint(w, "]")
	if r.next != "" {
		fmt.Fprintf(w, `,"next":%q`, r.next)
	}
	fmt.Fprintln(w, "}")
	w.Flush()
}

// unbuffered has proxies pass on what is written when it is, also those that would first fill a buffer, as nginx does.
func unbuffered(h huma.Context) { h.SetHeader("X-Accel-Buffering", "no") }

// writeLines writes a row on each line.
func writeLines[T any](h huma.Context, items iter.Seq[T]) {
	w := beginAnswer(h, typeNDJSON)
	out := newEncoder(w)
	for item := range items {
		if out.Encode(item) != nil {
			return
		}
	}
	w.Flush()
}

func newEncoder(w *bufio.Writer) *json.Encoder {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out
}

// beginAnswer begins an answer that is written bit by bit.
func beginAnswer(h huma.Context, contentType string) *bufio.Writer {
	_, w := humago.Unwrap(h)
	h.SetHeader("Content-Type", contentType)
	h.SetStatus(http.StatusOK)
	return bufio.NewWriterSize(&patient{w, http.NewResponseController(w)}, 64<<10)
}

// patient gives each part of a long answer the time that a whole short one has.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (p *patient) Write(b []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(answerWait)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return p.ResponseWriter.Write(b)
}

// acceptsGzip reports whether a client prefers gzip to text as it is, by its Accept-Encoding (RFC 9110, 12.5.3).
func acceptsGzip(accept string) bool {
	return negotiation.SelectQValue(strings.ToLower(accept), []string{"identity", "gzip"}) == "gzip"
}
