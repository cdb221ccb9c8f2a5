package accounting

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/quill-grid/quill/pkg/grid"
)

// TestInstances: what a task had of resource maps is read back from both formats, also ids with colons, and
// counted in instance-seconds.
func TestInstances(t *testing.T) {
	a := &grid.Accounting{Job: 7, Task: 1, Attempt: 1, Queue: "all.q", Host: "node1", Owner: "alice",
		Start: 1_000_000, End: 1_060_000,
		Maps: []grid.MapGrant{{Resource: "gpu", Host: "node1", IDs: []string{"0000:3b:00.0", "0000:3b:00.0"}},
			{Resource: "gpu", Host: "node2", IDs: []string{"50%"}},
			{Resource: "port", Host: "node1", IDs: []string{"65000"}}}}
	for _, f := range []Format{Colons, JSON} {
		line := string(f.Append(nil, a))
		got, err := ParseLine(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if diff := cmp.Diff(a.Maps, got.Maps); diff != "" {
			t.Errorf("%s:\n%s", line, diff)
		}
		names, seconds := got.InstanceSeconds()
		if diff := cmp.Diff(names, []string{"gpu", "port"}); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(seconds, []float64{180, 60}); diff != "" {
			t.Error(diff)
		}
	}
	if got, err := ParseLine(genuine[0] + ":something else\n"); err != nil || got.Maps != nil {
		t.Errorf("a field that is no resource map: %v, %v", got, err)
	}
}
