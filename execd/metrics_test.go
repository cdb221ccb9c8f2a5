package execd

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/testkit"
)

// TestMetrics counts two jobs, one of which cannot be started, and a qmaster that does not answer for a while.
func TestMetrics(t *testing.T) {
	m := newMachine(t)
	m.halt()
	m.metrics = NewMetrics()
	if err := m.metrics.Set.Ready(); err == nil || err.Error() != "waiting for qmaster" {
		t.Errorf("before the start: %v", err)
	}
	m.start()
	until := func(what string, ok func() bool) {
		t.Helper()
		testkit.Until(t, what, testkit.Patience, func() (bool, string) { return ok(), "" })
	}
	until("ready", func() bool { return m.metrics.Set.Ready() == nil })
	stranger := script(t, m.out, 2, "true\n")
	stranger.Owner = "nosuchuser"
	m.q.deliver("node1", script(t, m.out, 1, "while [ ! -e "+m.out+"/go ]; do sleep 0.01; done; exit 3\n"), stranger)
	m.q.end(2)
	until("a running job", func() bool { return testutil.ToFloat64(m.metrics.Running) == 1 })
	if connected, started := testutil.ToFloat64(m.metrics.Shepherds),
		testutil.ToFloat64(m.metrics.Started); connected != 1 || started != 1 {
		t.Errorf("shepherd %v, started %v", connected, started)
	}
	if n := testutil.ToFloat64(m.metrics.Refused.WithLabelValues("21", "in recognizing job")); n != 1 {
		t.Errorf("%v refused jobs", n)
	}
	m.q.set(func() { m.q.down = true })
	if err := os.WriteFile(filepath.Join(m.out, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	until("not ready", func() bool { return m.metrics.Set.Ready() != nil })
	if err := m.metrics.Set.Ready().Error(); err != "qmaster does not answer: qmaster is down" {
		t.Error(err)
	}
	m.q.set(func() { m.q.down = false })
	m.q.end(1)
	until("an end", func() bool { return testutil.ToFloat64(m.metrics.Ended.WithLabelValues("0", "no failure")) == 1 })
	until("nothing running", func() bool { return testutil.ToFloat64(m.metrics.Running) == 0 })
	until("load", func() bool { return testutil.ToFloat64(m.metrics.Loads) > 0 })
	if problems, err := testutil.GatherAndLint(m.metrics.Set); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

// TestReady: execd is ready from an acknowledged report until the connection breaks.
func TestReady(t *testing.T) {
	var none *Metrics
	none.Lost(errors.New("EOF"))
	m := NewMetrics()
	for range 2 {
		m.countReport(report.Report{}, report.Receipt{}, nil, 0)
		if err := m.Set.Ready(); err != nil {
			t.Error(err)
		}
		m.Lost(errors.New("EOF"))
		if err := m.Set.Ready(); err == nil || err.Error() != "the connection to qmaster was lost: EOF" {
			t.Error(err)
		}
	}
}
