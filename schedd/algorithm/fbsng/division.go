package fbsng

import (
	"fmt"
	"math"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

var division = algorithm.Division{
	Promise:   "each start costs its queue: starts follow the weights",
	Share:     algorithm.ByWeight,
	Configure: divideAmong,
	Prompt:    []grid.Param{{Name: "min_period_s", Text: "0"}},
}

// divideAmong gives the queue of a project a higher price per start the smaller its weight is. A job that was passed
// so many times holds those after it in its queue, else big ones would wait for
// ever.
func divideAmong(c *grid.SchedConf, of []algorithm.Project) {
	const passed = 20
	largest := 0.0
	for _, p := range of {
		largest = max(largest, p.Weight)
	}
	rows := []grid.Param{{Name: "group_by", Text: "project"}}
	for _, p := range of {
		price := max(1, int(math.Round(10*largest/p.Weight)))
		rows = append(rows, grid.Param{Name: "queue", Text: fmt.Sprintf("%s QPmin=0 QPD=%d SPG=%d", p.Name, price, passed)})
	}
	c.Sections = c.WithSection(grid.Section{Algorithm: Name, Params: rows})
}
