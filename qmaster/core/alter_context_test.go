package core

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestAlterOfALongContext: qalter -ac and -dc of long lists cost memory in proportion to their length. A list that is
// copied for each of its values would cost 1200 MB.
func TestAlterOfALongContext(t *testing.T) {
	const most, values = 100 << 20, 5000
	h := &harness{t: t, now: 1_700_000_000_000}
	h.cell(&datadriven.TestData{
		CmdArgs: []datadriven.CmdArg{{Key: "hosts", Vals: []string{"h1"}}, {Key: "slots", Vals: []string{"1"}}}})
	ask := func(b gdi.Body) {
		h.keep(
			h.core.Step(
				h.now, UserRequest{Request: gdi.Request{User: "root", Group: "users", Host: "m", Command: "x", Body: b}}))
	}
	list := func(from int) (v grid.Values) {
		for i := range values {
			v = append(v, grid.Value{Name: fmt.Sprint("k", from+i), Text: "1"})
		}
		return v
	}
	ask(&gdi.Submit{
		Job: &grid.Job{JobRequest: &grid.JobRequest{}, Name: "n", Spec: &grid.JobSpec{Command: "c", Context: list(0)}}})
	for _, c := range []struct {
		set  string
		from int
		left int
	}{{"ac", values, 2 * values}, {"ac", values / 2, 2 * values}, {"dc", values / 2, values}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ask(&gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 1}}}, Set: []string{c.set},
			Job: &grid.Job{JobRequest: &grid.JobRequest{}, Spec: &grid.JobSpec{Context: list(c.from)}}})
		runtime.ReadMemStats(&after)
		n := after.TotalAlloc - before.TotalAlloc
		t.Logf("-%s: %d bytes", c.set, n)
		if n > most {
			t.Errorf("-%s: %d MB for %d values", c.set, n>>20, values)
		}
		if got := len(h.core.state.Job(1).Spec.Context); got != c.left {
			t.Errorf("-%s leaves %d values, want %d", c.set, got, c.left)
		}
	}
}
