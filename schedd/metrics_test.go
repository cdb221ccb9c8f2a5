package schedd

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/quill-grid/quill/orders"
)

// TestMetrics counts the runs of a scheduler that starts two jobs and is then refused.
func TestMetrics(t *testing.T) {
	m := NewMetrics()
	if err := m.Set.Ready(); err == nil || err.Error() != "waiting for qmaster" {
		t.Errorf("before the start: %v", err)
	}
	q := newQMaster(t, smallCell...)
	done := make(chan Outcome, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{Name: "schedd", Source: q, Metrics: m, Done: func(o Outcome) { done <- o }})
	}()
	runs := 0
	until := func(orders int) {
		t.Helper()
		for orders > 0 {
			orders -= next(t, done).Orders
			runs++
		}
	}
	next(t, done)
	runs++
	if err := m.Set.Ready(); err != nil {
		t.Errorf("registered: %v", err)
	}
	q.do("submit 1", "submit 2")
	until(2)
	q.mu.Lock()
	q.displaced = true
	q.mu.Unlock()
	q.do("end 1", "submit 3")
	for refused := 0; refused == 0; runs++ {
		refused = next(t, done).Refused
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for len(done) > 0 {
		<-done
		runs++
	}
	if started := testutil.ToFloat64(m.Orders.WithLabelValues("start_job")); started < 3 {
		t.Errorf("%v orders to start a job", started)
	}
	if refused := testutil.ToFloat64(m.Refused.WithLabelValues(orders.Unregistered.String())); refused < 1 {
		t.Errorf("%v refused orders", refused)
	}
	if n := testutil.ToFloat64(m.Starts); n != 1 {
		t.Errorf("%v registrations", n)
	}
	families, err := m.Set.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if n := f.GetMetric()[0].GetHistogram().GetSampleCount(); f.GetName() == "quill_schedd_run_seconds" &&
			n != uint64(runs) {
			t.Errorf("%d runs of %d are counted", n, runs)
		}
	}
	if problems, err := testutil.GatherAndLint(m.Set); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	m.Unready("the events of qmaster are interrupted: lost")
	if err := m.Set.Ready(); err == nil {
		t.Error("ready without a connection")
	}
}
