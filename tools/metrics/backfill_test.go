package metrics

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/daemons/celltest"
	"github.com/quill-grid/quill/tools/ge/qsub"
)

func TestMain(m *testing.M) { celltest.Main(m) }

// TestHistory runs a cell with two jobs, of which one is held, and reads its metrics out of the log as Prometheus does.
func TestHistory(t *testing.T) {
	cell := celltest.Start(t, 1, 2)
	var out bytes.Buffer
	env := opt.Here(t.Context())
	env.Stdout, env.Stderr = &out, &out
	env.Connect = func(ctx context.Context) (client.Client, error) { return client.Connect(ctx, cell.Cell) }
	for _, words := range []string{"-sync y -b y -o /dev/null -j y true", "-h -b y true"} {
		if status := qsub.Run(env, strings.Fields(words)); status != 0 {
			t.Fatal(status, out.String())
		}
	}
	cell.Stop()
	metrics := func(words ...string) (string, int) {
		out.Reset()
		app := &cli.App{Name: "quill"}
		status := opt.RunMenu(env, app, []func(opt.Env) *cli.Command{Command},
			append([]string{"metrics", "--log", cell.Dir()}, words...))
		return out.String(), status
	}
	text, status := metrics("--step", "1s")
	if status != 0 {
		t.Fatal(status, text)
	}
	last := parse(t, text)
	for series, want := range map[string]float64{
		`quill_tasks_started_total`: 1, `quill_tasks_ended_total{cause="no failure", failed="0"}`: 1,
		`quill_task_wait_seconds_count{queue="all.q"}`: 1,
		`quill_tasks{state="held"}`:                    1, `quill_tasks{state="running"}`: 0, `quill_jobs`: 1,
		`quill_hosts{state="reporting"}`: 1,
	} {
		if got, ok := last[series]; !ok || got != want {
			t.Errorf("%s ends with %v, not %v", series, got, want)
		}
	}
	if all, status := metrics("--from", "-30d", "--step", "1s"); status != 0 || all != text {
		t.Errorf("%d: what was before the log differs from the beginning of it: %d bytes, not %d", status,
			len(all), len(text))
	}
	file := filepath.Join(t.TempDir(), "quill.om")
	if said, status := metrics("--step", "1s", "--out", file); status != 0 || said != "" {
		t.Error(status, said)
	}
	if written, err := os.ReadFile(file); err != nil || string(written) != text {
		t.Errorf("%v: the file differs from what is printed", err)
	}
	for words, want := range map[string]string{
		"--step 1ms":           "quill: metrics: --step 1ms is less than a second\n",
		"--from soon":          "quill: metrics: --from: \"soon\" is neither the number of an event list nor a time\n",
		"--from 5 --to 2":      "quill: metrics: --to is before --from\n",
		"all":                  "quill: metrics: \"all\" is not an option\n",
		"--out /no/such/place": "quill: metrics: open /no/such/place: no such file or directory\n",
	} {
		if said, status := metrics(strings.Fields(words)...); status != 1 || said != want {
			t.Errorf("%s: %d, %q", words, status, said)
		}
	}
}

// parse reads OpenMetrics as Prometheus does and returns the last value of each series. Samples of a series must be
// together and in the order of time.
func parse(t *testing.T, text string) map[string]float64 {
	t.Helper()
	last, at, series := map[string]float64{}, int64(0), ""
	for p := textparse.NewOpenMetricsParser([]byte(text), labels.NewSymbolTable()); ; {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return last
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if entry != textparse.EntrySeries {
			continue
		}
		_, when, value := p.Series()
		var l labels.Labels
		p.Labels(&l)
		name := l.Get("__name__")
		key := strings.TrimSuffix(name+l.DropReserved(func(name string) bool { return name == "__name__" }).String(), "{}")
		if when == nil || key == series && *when <= at {
			t.Fatalf("%s: samples at %d and %d", key, at, when)
		}
		// a histogram is several series
		if _, again := last[key]; again && key != series && !strings.HasPrefix(key, "quill_task_wait_seconds") {
			t.Fatalf("the samples of %s are apart", key)
		}
		last[key], at, series = value, *when, key
	}
}
