package shares

import (
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
)

// The specification's example: -p over the observed range, nurg as given.
func TestPriority(t *testing.T) {
	conf := &grid.SchedConf{WeightPriority: 1, WeightUrgency: 0.1, WeightTicket: 0.01}
	for _, c := range []struct{ posix, nurg, want float64 }{{100, 0.75, 1.08}, {0, 1, 0.105}, {0, 0, 0.005}} {
		if got := Priority(conf, Normalise(c.posix, 0, 100), c.nurg, 0.5); got-c.want > 1e-9 || c.want-got > 1e-9 {
			t.Errorf("-p %v: %v, want %v", c.posix, got, c.want)
		}
	}
}

func TestCheckConfig(t *testing.T) {
	for _, c := range []struct {
		change func(*grid.SchedConf)
		want   string
	}{
		{func(c *grid.SchedConf) {}, ""},
		{func(c *grid.SchedConf) { c.WeightUrgency = -1 }, `invalid setting for param: "weight_urgency"(should be ">=0")`},
		{func(c *grid.SchedConf) { c.PolicyHierarchy = "OFX" }, `invalid policy_hierarchy "OFX"`},
		{func(c *grid.SchedConf) { c.PolicyHierarchy = "OFSS" }, `invalid policy_hierarchy "OFSS"`},
		{func(c *grid.SchedConf) { c.PolicyHierarchy = "NONE" }, ""},
		{func(c *grid.SchedConf) { c.Params = "PRIORITY_RANGE=wide" },
			`invalid scheduler param setting: "PRIORITY_RANGE=wide"`},
		{func(c *grid.SchedConf) { c.Params = "PRIORITY_RANGE=fixed,USER_SORT=1,WEIGHT_TICKETS_DEADLINE=1000" }, ""},
		{func(c *grid.SchedConf) { c.Params = "WEIGHT_TICKETS_DEADLINE=many" },
			`invalid scheduler param setting: "WEIGHT_TICKETS_DEADLINE=many"`},
	} {
		conf := grid.DefaultSchedConf()
		c.change(conf)
		got := ""
		if err := CheckConfig(conf); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
