package ticket

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

var division = algorithm.Division{
	Promise:   "functional tickets: what runs follows the weights",
	Share:     algorithm.ByWeight,
	Configure: divide,
}

// divide sets the functional policy with projects alone, sched_conf(5).
func divide(c *grid.SchedConf, _ []algorithm.Project) {
	c.WeightTicketsFunctional, c.WeightTicket = 1_000_000, 1
	c.WeightUser, c.WeightDepartment, c.WeightJob, c.WeightProject = 0, 0, 0, 1
}
