package trace

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otrace "go.opentelemetry.io/otel/trace"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/product"
)

// exporter sends spans somewhere.
type exporter interface {
	export(Span) error
	// close sends what is left. It fails when not all has arrived.
	close(context.Context) error
}

// collector is the exporter of OpenTelemetry, configured by its environment variables.
type collector struct {
	provider *sdk.TracerProvider
	tracer   otrace.Tracer
	sender   *sender
}

// newCollector returns an exporter to the collector that OTEL_EXPORTER_OTLP_ENDPOINT and the variables beside it name,
// else to http://localhost:4318. What cannot be sent is reported on stderr.
func newCollector(ctx context.Context, cell string, stderr io.Writer) (*collector, error) {
	options, err := optionsOf(os.Getenv)
	if err != nil {
		return nil, err
	}
	to, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, err
	}
	about,
		err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "quill"),
		attribute.String("service.version", product.Version),
		attribute.String("quill.cell", cell)), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	c := &collector{sender: &sender{SpanExporter: to, stderr: stderr}}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { fmt.Fprintln(stderr, "quill trace:", err) }))
	// A queue that is full waits: no span is lost.
	c.provider = sdk.NewTracerProvider(sdk.WithBatcher(c.sender, sdk.WithBlocking()), sdk.WithResource(about),
		sdk.WithIDGenerator(given{}))
	c.tracer = c.provider.Tracer("github.com/quill-grid/quill/tools/trace")
	return c, nil
}

// sender sends batches of spans, one after the other. It reports when they cease to arrive, and when they arrive again.
type sender struct {
	sdk.SpanExporter
	stderr io.Writer

	mu    sync.Mutex
	away  bool
	lost  int       // spans that have not arrived
	since time.Time // the first of them began
}

// ExportSpans implements sdk.SpanExporter. What does not arrive is reported here.
func (s *sender) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := s.SpanExporter.ExportSpans(ctx, spans)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		if s.away {
			fmt.Fprintf(s.stderr, "quill trace: spans arrive at the collector again; %d have not\n", s.lost)
		}
		s.away = false
		return nil
	}
	if !s.away {
		fmt.Fprintln(s.stderr, "quill trace: spans do not arrive at the collector:", err)
	}
	s.away = true
	for _, one := range spans {
		if s.lost++; s.since.IsZero() || one.StartTime().Before(s.since) {
			s.since = one.StartTime()
		}
	}
	return nil
}

// missing returns an error if spans have not arrived.
func (s *sender) missing() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost == 0 {
		return nil
	}
	return fmt.Errorf("%d spans have not arrived at the collector; export them again with --from %q", s.lost,
		opt.Stamp(grid.TimeOf(s.since)))
}

func (c *collector) export(s Span) error {
	ctx := context.WithValue(context.Background(), given{}, s)
	if s.Parent != (plan.SpanID{}) {
		ctx = otrace.ContextWithRemoteSpanContext(ctx, otrace.NewSpanContext(otrace.SpanContextConfig{
			TraceID: otrace.TraceID(s.Trace), SpanID: otrace.SpanID(s.Parent), TraceFlags: otrace.FlagsSampled, Remote: true,
		}))
	}
	var attributes []attribute.KeyValue
	for _, a := range s.Attributes {
		switch v := a.Value.(type) {
		case string:
			attributes = append(attributes, attribute.String(a.Name, v))
		case int64:
			attributes = append(attributes, attribute.Int64(a.Name, v))
		case float64:
			attributes = append(attributes, attribute.Float64(a.Name, v))
		}
	}
	_, span := c.tracer.Start(ctx, s.Name, otrace.WithTimestamp(s.Start.Std()), otrace.WithAttributes(attributes...))
	if s.Error != "" {
		span.SetStatus(codes.Error, s.Error)
	}
	span.End(otrace.WithTimestamp(s.End.Std()))
	return nil
}

func (c *collector) close(ctx context.Context) error {
	err := c.provider.Shutdown(ctx)
	return errors.Join(err, c.sender.missing())
}

// given is an sdk.IDGenerator: the identifiers of a span are its own.
type given struct{}

func (given) NewIDs(ctx context.Context) (otrace.TraceID, otrace.SpanID) {
	s := ctx.Value(given{}).(Span)
	return otrace.TraceID(s.Trace), otrace.SpanID(s.ID)
}

func (given) NewSpanID(ctx context.Context, _ otrace.TraceID) otrace.SpanID {
	return otrace.SpanID(ctx.Value(given{}).(Span).ID)
}

// lines prints a JSON object for each span.
type lines struct{ *json.Encoder }

func newLines(w io.Writer) lines {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return lines{e}
}

// spanLine is a span as JSON.
type spanLine struct {
	Trace      string         `json:"trace_id"`
	ID         string         `json:"span_id"`
	Parent     string         `json:"parent_id,omitempty"`
	Name       string         `json:"name"`
	Start      time.Time      `json:"start"`
	End        time.Time      `json:"end"`
	Error      string         `json:"error,omitempty"`
	Attributes map[string]any `json:"attributes,omitempty"`
}

func (l lines) export(s Span) error {
	out := spanLine{Trace: hex.EncodeToString(s.Trace[:]), ID: hex.EncodeToString(s.ID[:]), Name: s.Name,
		Start: s.Start.Std(), End: s.End.Std(), Error: s.Error}
	if s.Parent != (plan.SpanID{}) {
		out.Parent = hex.EncodeToString(s.Parent[:])
	}
	for _, a := range s.Attributes {
		if out.Attributes == nil {
			out.Attributes = map[string]any{}
		}
		out.Attributes[a.Name] = a.Value
	}
	return l.Encode(out)
}

func (lines) close(context.Context) error { return nil }
