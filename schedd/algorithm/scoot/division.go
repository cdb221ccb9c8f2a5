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
	percent := func(i int) string { return fmt.Sprint(max(1, math.Round(100*algorithm.ByWeight(of, i)))) }
	c.Sections = c.WithSection(grid.Section{Algorithm: Name, Params: []grid.Param{
		{Name: "group_by", Text: "project"}, {Name: "requestor_map", Text: "none"}, algorithm.Weighted("class_load_percents", of, percent),
	}})
}
