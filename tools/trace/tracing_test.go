package trace

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/urfave/cli/v2"
	collected "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/daemons/celltest"
	"github.com/quill-grid/quill/tools/ge/qsub"
)

func TestMain(m *testing.M) { celltest.Main(m) }

// collectorOf is a collector that keeps the spans by their names.
type collectorOf struct {
	mu     sync.Mutex
	spans  map[string]*otlp.Span
	status int // 0: all is well
}

func (c *collectorOf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collected.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || c.status != 0 {
		w.WriteHeader(max(c.status, http.StatusBadRequest))
		return
	}
	for _, r := range request.ResourceSpans {
		for _, s := range r.ScopeSpans {
			for _, span := range s.Spans {
				c.spans[span.Name] = span
			}
		}
	}
}

// TestCollector: the spans of a job arrive at a collector, and its processes have the run as their parent.
func TestCollector(t *testing.T) {
	cell := celltest.Start(t, 1, 2)
	to := &collectorOf{spans: map[string]*otlp.Span{}}
	server := httptest.NewServer(to)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	var out bytes.Buffer
	env := opt.Here(t.Context())
	env.Stdout, env.Stderr = &out, &out
	env.Connect = func(ctx context.Context) (client.Client, error) { return client.Connect(ctx, cell.Cell) }
	file := filepath.Join(t.TempDir(), "out")
	if status := qsub.Run(env, append(strings.Fields("-N hello -sync y -b y -j y -o"), file, "echo",
		"$TRACEPARENT")); status != 0 {
		t.Fatal(status, out.String())
	}
	cell.Stop()
	run := func(words ...string) (string, int) {
		out.Reset()
		app := &cli.App{Name: "quill"}
		status := opt.RunMenu(env, app, []func(opt.Env) *cli.Command{Command}, append([]string{"trace"}, words...))
		return out.String(), status
	}
	if said, status := run("--log", cell.Dir()); status != 0 || said != "" {
		t.Fatal(status, said)
	}
	parent, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	whole, ran := to.spans["batch job"], to.spans["run"]
	for _, name := range []string{"batch job", "wait: place", "start", "run", "finish"} {
		switch s := to.spans[name]; {
		case s == nil:
			t.Fatalf("%s is missing among %v", name, to.spans)
		case name != "batch job" && !bytes.Equal(s.ParentSpanId, whole.SpanId):
			t.Errorf("the parent of %s is %x", name, s.ParentSpanId)
		case s.StartTimeUnixNano > s.EndTimeUnixNano || s.StartTimeUnixNano < whole.StartTimeUnixNano ||
			s.EndTimeUnixNano > whole.EndTimeUnixNano:
			t.Errorf("%s is not within the job", name)
		}
	}
	if fields := strings.Split(strings.TrimSpace(string(parent)), "-"); len(fields) != 4 ||
		fields[1] != hex.EncodeToString(ran.TraceId) || fields[2] != hex.EncodeToString(ran.SpanId) {
		t.Errorf("TRACEPARENT is %s, the run is %x of trace %x", parent, ran.SpanId, ran.TraceId)
	}

	text, status := run("--log", cell.Dir(), "--json", "--job", "1")
	if status != 0 || strings.Count(text, "\n") != 5 {
		t.Error(status, text)
	}
	for l := range strings.Lines(text) {
		var one spanLine
		if err := json.Unmarshal([]byte(l), &one); err != nil || one.Trace != hex.EncodeToString(ran.TraceId) {
			t.Error(err, l)
		}
	}
	to.status = http.StatusBadRequest
	if said, status := run("--log", cell.Dir()); status != 1 ||
		!strings.Contains(
			said, "quill: trace: 5 spans have not arrived at the collector; export them again with --from \"20") {
		t.Error(status, said)
	}
	for words, want := range map[string]string{
		"--job x":             `quill: trace: --job: "x" is not the number of a job`,
		"--from yesterday":    `quill: trace: --from: `,
		"now":                 `quill: trace: "now" is not an option`,
		"--follow":            `quill: trace: --follow needs a cell that runs, without --log`,
		"--log /no/such/file": `no such file or directory`,
	} {
		if said, status := run(append([]string{"--log", cell.Dir()}, strings.Fields(words)...)...); status != 1 ||
			!strings.Contains(said, want) {
			t.Errorf("%s: %d, %q", words, status, said)
		}
	}
}

// TestCollectorAway: a collector that is away is reported once, and when it is back.
func TestCollectorAway(t *testing.T) {
	to := &collectorOf{spans: map[string]*otlp.Span{}, status: http.StatusBadRequest}
	server := httptest.NewServer(to)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	var said bytes.Buffer
	c, err := newCollector(t.Context(), "default", &said)
	if err != nil {
		t.Fatal(err)
	}
	send := func(start float64, name string) {
		t.Helper()
		id := plan.SpanID{byte(start)}
		if err := errors.Join(c.export(Span{Trace: plan.TraceID{1}, ID: id, Name: name, Start: grid.Time(start),
			End: grid.Time(start + 1)}), c.provider.ForceFlush(t.Context())); err != nil {
			t.Error(err)
		}
	}
	send(200, "a")
	send(100, "b")
	to.status = 0
	send(300, "c")
	send(301, "d")
	if lines := strings.Split(said.String(), "\n"); len(lines) != 3 ||
		!strings.HasPrefix(lines[0], "quill trace: spans do not arrive at the collector: ") ||
		lines[1] != "quill trace: spans arrive at the collector again; 2 have not" {
		t.Errorf("%q", lines)
	}
	want := `2 spans have not arrived at the collector; export them again with --from "` + opt.Stamp(100) + `"`
	if err := c.close(t.Context()); err == nil || err.Error() != want {
		t.Errorf("%v, not %s", err, want)
	}
}

// TestOptions: the variables of OpenTelemetry are taken as its specification says, or refused.
func TestOptions(t *testing.T) {
	for given, want := range map[string]string{
		"": "1 <nil>", "OTEL_EXPORTER_OTLP_ENDPOINT=https://tempo": "0 <nil>",
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf OTEL_EXPORTER_OTLP_PROTOCOL=grpc": "1 <nil>",
		"OTEL_EXPORTER_OTLP_PROTOCOL=grpc":                                                  "0 OTEL_EXPORTER_OTLP_PROTOCOL=grpc is not supported: spans are sent by http/protobuf",
		"OTEL_EXPORTER_OTLP_ENDPOINT=127.0.0.1:4318":                                        "0 OTEL_EXPORTER_OTLP_ENDPOINT=127.0.0.1:4318 is not the URL of a collector, as http://localhost:4318",
		"OTEL_EXPORTER_OTLP_ENDPOINT=tempo:4318":                                            "0 OTEL_EXPORTER_OTLP_ENDPOINT=tempo:4318 is not the URL of a collector, as http://localhost:4318",
		"OTEL_EXPORTER_OTLP_COMPRESSION=gzip OTEL_EXPORTER_OTLP_TIMEOUT=500 OTEL_EXPORTER_OTLP_TRACES_INSECURE=true OTEL_EXPORTER_OTLP_HEADERS=a=b,c=d": "1 <nil>",
		"OTEL_EXPORTER_OTLP_COMPRESSION=zstd":                          "0 OTEL_EXPORTER_OTLP_COMPRESSION=zstd is not supported: it is gzip or none",
		"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=10s":                        "0 OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=10s is not supported: it is a number of milliseconds",
		"OTEL_EXPORTER_OTLP_INSECURE=yes":                              "0 OTEL_EXPORTER_OTLP_INSECURE=yes is not supported: it is true or false",
		"OTEL_EXPORTER_OTLP_HEADERS=secret":                            "0 OTEL_EXPORTER_OTLP_HEADERS is not supported: it is a list of NAME=VALUE",
		"OTEL_EXPORTER_OTLP_CERTIFICATE=/none":                         "0 OTEL_EXPORTER_OTLP_CERTIFICATE: open /none: no such file or directory",
		"OTEL_TRACES_SAMPLER=traceidratio OTEL_TRACES_SAMPLER_ARG=0.5": "1 <nil>",
		"OTEL_TRACES_SAMPLER=traceidratio OTEL_TRACES_SAMPLER_ARG=2":   "0 OTEL_TRACES_SAMPLER_ARG=2 is not supported: it is a ratio from 0 to 1",
		"OTEL_TRACES_SAMPLER=jaeger_remote":                            "0 OTEL_TRACES_SAMPLER=jaeger_remote is not supported: it is always_on, always_off, parentbased_always_on, parentbased_always_off, traceidratio or parentbased_traceidratio",
		"OTEL_BSP_MAX_QUEUE_SIZE=-1":                                   "0 OTEL_BSP_MAX_QUEUE_SIZE=-1 is not supported: it is a number greater than 0",
		"OTEL_BSP_MAX_QUEUE_SIZE=8 OTEL_BSP_MAX_EXPORT_BATCH_SIZE=9":   "0 OTEL_BSP_MAX_EXPORT_BATCH_SIZE=9 is greater than OTEL_BSP_MAX_QUEUE_SIZE=8",
		"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=many":                         "0 OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=many is not supported: it is a number, 0 or greater",
	} {
		options, err := optionsOf(func(name string) string {
			for pair := range strings.FieldsSeq(given) {
				if value, is := strings.CutPrefix(pair, name+"="); is {
					return value
				}
			}
			return ""
		})
		if got := fmt.Sprint(len(options), " ", err); got != want {
			t.Errorf("%s: %s, not %s", given, got, want)
		}
	}
}

// TestDisabled: variables of OpenTelemetry turn the export off, or are refused.
func TestDisabled(t *testing.T) {
	for given, want := range map[string]string{
		"OTEL_SDK_DISABLED=true": "OTEL_SDK_DISABLED=true <nil>", "OTEL_SDK_DISABLED=TRUE": "OTEL_SDK_DISABLED=TRUE <nil>",
		"OTEL_SDK_DISABLED=false": " <nil>", "OTEL_SDK_DISABLED=": " <nil>",
		"OTEL_SDK_DISABLED=1":          " OTEL_SDK_DISABLED=1 is not supported: it is true or false",
		"OTEL_TRACES_EXPORTER=none":    "OTEL_TRACES_EXPORTER=none <nil>",
		"OTEL_TRACES_EXPORTER=otlp":    " <nil>",
		"OTEL_TRACES_EXPORTER=console": " OTEL_TRACES_EXPORTER=console is not supported: it is otlp or none; --json prints spans",
	} {
		name, value, _ := strings.Cut(given, "=")
		by, err := disabledBy(func(n string) string {
			if n == name {
				return value
			}
			return ""
		})
		if got := fmt.Sprint(by, " ", err); got != want {
			t.Errorf("%s: %s, not %s", given, got, want)
		}
	}
}

// TestFollow: what ends while the command runs is exported then.
func TestFollow(t *testing.T) {
	cell := celltest.Start(t, 1, 2)
	t.Setenv("SGE_ROOT", cell.Cell.Root)
	t.Setenv("SGE_CELL", cell.Cell.Name)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	submit := func(name string) {
		var out bytes.Buffer
		env := opt.Here(t.Context()) // it does not end with the command that follows
		env.Connect = func(ctx context.Context) (client.Client, error) { return client.Connect(ctx, cell.Cell) }
		env.Stdout, env.Stderr = &out, &out
		if status := qsub.Run(env, strings.Fields("-sync y -b y -j y -o /dev/null -N "+name+" true")); status != 0 {
			t.Error(status, out.String())
		}
	}
	submit("before")
	in, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		env := opt.Here(ctx)
		env.Stdout, env.Stderr = out, out
		app := &cli.App{Name: "quill"}
		ended <- opt.RunMenu(env, app, []func(opt.Env) *cli.Command{Command},
			strings.Fields("trace --from 1 --follow --json"))
		out.Close()
	}()
	var submitting sync.WaitGroup
	defer submitting.Wait()
	var names []string
	spans := bufio.NewScanner(in)
	for spans.Scan() {
		var one spanLine
		if err := json.Unmarshal(spans.Bytes(), &one); err != nil {
			t.Fatal(err, spans.Text())
		}
		name := one.Name
		if job, is := one.Attributes["quill.job.name"].(string); is {
			name = job
		}
		names = append(names, name)
		switch name {
		case "before":
			submitting.Go(func() { submit("after") })
		case "after":
			stop()
		}
	}
	if status := <-ended; status != 0 || !slices.Contains(names, "before") || !slices.Contains(names, "after") ||
		len(names) != 10 {
		t.Error(status, names)
	}
}
