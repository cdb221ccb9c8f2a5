package roundrobin

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

var division = algorithm.Division{
	Promise:   "projects take turns: as many starts each, whatever the weights",
	Share:     algorithm.Equally,
	Configure: divide,
}

// divide has projects take turns.
func divide(c *grid.SchedConf, _ []algorithm.Project) {
	c.Sections = c.WithSection(grid.Section{Algorithm: Name, Params: []grid.Param{{Name: "group_by", Text: "project"}}})
}
