package scoot

import (
	"fmt"
	"math"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

var division = algorithm.Division{
	Promise:   "class load percents: workers at any time by the weights",
	Share:     algorithm.ByWeight,
	Configure: divide,
}

// divide makes a class of each project.
func divide(c *grid.SchedConf, of []algorithm.Project) {
	c.Sections = c.WithSection(
		grid.Section{Algorithm: Name, Params: append(classes(of), grid.Param{Name: "group_by", Text: "project"})})
}

// preempting has a class of each owner, and the classes are balanced after a second.
func preempting(owners []algorithm.Project) []grid.Param {
	return append(classes(owners), grid.Param{Name: "group_by", Text: "owner"},
		grid.Param{Name: "preemption", Text: "suspend"},
		grid.Param{Name: "rebalance_threshold", Text: "5"}, grid.Param{Name: "rebalance_min_duration_s", Text: "1"})
}

// classes are the parameters that give each a class.
func classes(of []algorithm.Project) []grid.Param {
	percent := func(i int) string { return fmt.Sprint(max(1, math.Round(100*algorithm.ByWeight(of, i)))) }
	return []grid.Param{{Name: "requestor_map", Text: "none"}, algorithm.Weighted("class_load_percents", of, percent)}
}
