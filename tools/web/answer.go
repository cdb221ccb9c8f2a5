package web

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	IfNoneMatch string `header:"If-None-Match" doc:"the ETag of an earlier answer: 304 when this one is the same"`
}

func (r *Reading) place() *Reading { return r }

// reader is an input with a Reading.
type reader interface{ place() *Reading }

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

// answered is the answer to a GET of the state.
type answered struct {
	Sequence uint64 `header:"Quill-Sequence" doc:"number of the last event list in the answer"`
	ETag     string `header:"ETag" doc:"changes when the answer does; absent with application/x-ndjson"`
	Vary     string `header:"Vary"`
	Body     func(huma.Context)
}

// answer returns the answer that write makes, or that it is the one that the client has: then leave is called, as it is
// at the end of the answer. An answer of lines has no ETag, because its rows would be made twice.
func (r *Reading) answer(
	seq uint64, contentType string, write func(io.Writer) error, leave func(),
) (*answered, error) {
	a := &answered{Sequence: seq, Vary: "Accept, Accept-Encoding"}
	if contentType != typeNDJSON {
		digest := sha256.New()
		if err := write(digest); err != nil {
			leave()
			return nil, err
		}
		a.ETag = `W/"` + hex.EncodeToString(digest.Sum(nil)[:16]) + `"` // weak: it is that of the answer in gzip, too
		if matchesETag(r.IfNoneMatch, a.ETag) {
			leave()
			return nil, huma.ErrorWithHeaders(huma.Status304NotModified(), http.Header{"Etag": {a.ETag}, "Vary": {a.Vary},
				sequenceHeader: {strconv.FormatUint(seq, 10)}})
		}
	}
	a.Body = func(h huma.Context) {
		defer leave()
		_, w := humago.Unwrap(h)
		h.SetHeader("Content-Type", contentType)
		var out io.Writer = &patient{w, http.NewResponseController(w)}
		if acceptsGzip(h.Header("Accept-Encoding")) {
			h.SetHeader("Content-Encoding", "gzip")
			z := compressors.Get().(*gzip.Writer)
			defer compressors.Put(z)
			z.Reset(out)
			defer z.Close()
			out = z
		}
		h.SetStatus(http.StatusOK)
		buffered := bufio.NewWriterSize(out, 64<<10)
		if write(buffered) == nil {
			_ = buffered.Flush() // else the client has gone
		}
	}
	return a, nil
}

// compressors are those of answers.
var compressors = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // it is one of the levels
	return z
}}

// matchesETag reports whether a header If-None-Match has a tag (RFC 9110, 13.1.2).
func matchesETag(header, tag string) bool {
	for one := range strings.SplitSeq(header, ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
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
	schema := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, op.OperationID)
	op.Responses = map[string]*huma.Response{"200": {
		Description: "OK", Content: map[string]*huma.MediaType{typeJSON: {Schema: schema}}}}
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*answered, error) {
		reading := P(in).place()
		at, err := s.moment(ctx, reading)
		if err != nil {
			return nil, err
		}
		body, err := make(ctx, in, at)
		if err != nil {
			return nil, err
		}
		write := func(w io.Writer) error { return newEncoder(w).Encode(body) }
		return reading.answer(at.State.Seq, typeJSON, write, func() {})
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
		next(huma.WithValue(ctx, linesKey{}, acceptedType(ctx.Header("Accept"), typeJSON, typeNDJSON) == typeNDJSON))
	})
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*answered, error) {
		reading := P(in).place()
		at, err := s.moment(ctx, reading)
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
		if lines {
			return reading.answer(at.State.Seq, typeNDJSON, items.writeLines, leave)
		}
		return reading.answer(at.State.Seq, typeJSON, items.writePage, leave)
	})
}

type linesKey struct{}

// writePage writes a page while its rows are made.
func (r rows[T]) writePage(w io.Writer) error {
	fmt.Fprint(w, `{"items":[`)
	out, separator := newEncoder(w), ""
	for item := range r.items {
		fmt.Fprint(w, separator)
		if err := out.Encode(item); err != nil {
			return err
		}
		separator = ","
	}
	fmt.Fprint(w, "]")
	if r.next != "" {
		fmt.Fprintf(w, `,"next":%q`, r.next)
	}
	_, err := fmt.Fprintln(w, "}")
	return err
}

// unbuffered has proxies pass on what is written when it is, also those that would first fill a buffer, as nginx does.
func unbuffered(h huma.Context) { h.SetHeader("X-Accel-Buffering", "no") }

// writeLines writes a row on each line.
func (r rows[T]) writeLines(w io.Writer) error {
	out := newEncoder(w)
	for item := range r.items {
		if err := out.Encode(item); err != nil {
			return err
		}
	}
	return nil
}

func newEncoder(w io.Writer) *json.Encoder {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out
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

// acceptedType returns which of the types of an answer a client prefers by its Accept, the first of them when it does
// not say; "": none (RFC 9110, 12.5.1).
func acceptedType(accept string, types ...string) (best string) {
	if strings.TrimSpace(accept) == "" {
		return types[0]
	}
	most := 0.0
	for _, offered := range types {
		group, _, _ := strings.Cut(offered, "/")
		weight, exact := 0.0, -1
		for one := range strings.SplitSeq(accept, ",") {
			name, parameters, err := mime.ParseMediaType(one)
			if err != nil {
				continue
			}
			how := slices.Index([]string{"*/*", group + "/*", offered}, name)
			if how <= exact {
				continue
			}
			exact, weight = how, 1
			if q, has := parameters["q"]; has {
				if weight, err = strconv.ParseFloat(q, 64); err != nil {
					weight = 0
				}
			}
		}
		if weight > most {
			best, most = offered, weight
		}
	}
	return best
}

// checkAccept refuses a request whose client takes none of the types of the answer. The error is a problem.
func checkAccept(r *http.Request, op *huma.Operation) error {
	for status, response := range op.Responses { // order: one of them is 2xx
		if !strings.HasPrefix(status, "2") || len(response.Content) == 0 {
			continue
		}
		types := slices.Sorted(maps.Keys(response.Content))
		if acceptedType(strings.Join(r.Header["Accept"], ","), types...) == "" {
			return problem.New(http.StatusNotAcceptable, problem.TypeAcceptable, "header.Accept",
				fmt.Sprintf("%q is not answered: it is %s", r.Header.Get("Accept"), strings.Join(types, " or ")))
		}
	}
	return nil
}

// acceptsGzip reports whether a client prefers gzip to text as it is, by its Accept-Encoding (RFC 9110, 12.5.3).
func acceptsGzip(accept string) bool {
	return negotiation.SelectQValue(strings.ToLower(accept), []string{"identity", "gzip"}) == "gzip"
}
