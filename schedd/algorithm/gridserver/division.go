package gridserver

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

var division = algorithm.Division{
	Promise:   "SLA groups: engines at any time by the weights",
	Share:     algorithm.ByWeight,
	Configure: divide,
}

// divide makes an SLA group of each project.
func divide(c *grid.SchedConf, of []algorithm.Project) {
	params := []grid.Param{{Name: "mode", Text: "sla"}}
	if len(of) == 1 { // a fraction has to be less than one
		params = append(params, grid.Param{Name: "sla_groups", Text: of[0].Name + "=1"})
	} else {
		params = append(params, grid.Param{Name: "group_by", Text: "project"},
			algorithm.Weighted("sla_groups", of, func(i int) string { return fmt.Sprintf("%.6f", algorithm.ByWeight(of, i)) }))
	}
	c.Sections = c.WithSection(grid.Section{Algorithm: Name, Params: params})
}

// preempting has an SLA group of each owner whose tasks may be suspended after a second.
func preempting(owners []algorithm.Project) []grid.Param {
	return []grid.Param{
		{Name: "preemption", Text: "suspend"}, {Name: "preemptable_engine_percent", Text: "90"},
		{Name: "preempt_delay_seconds", Text: "1"},
		{Name: "mode", Text: "sla"}, {Name: "sla_preemption", Text: "true"}, {Name: "group_by", Text: "owner"},
		algorithm.Weighted("sla_groups", owners,
			func(i int) string { return fmt.Sprintf("%.6f", algorithm.ByWeight(owners, i)) }),
	}
}
