package roundrobin

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// Name is what sched_conf(5) `algorithm` calls this one.
const Name = "roundrobin"

// Config is the section of the scheduler configuration.
type Config struct {
	GroupBy string `param:"group_by" default:"owner" help:"who takes turns: project, department, queue or owner"`
	Tasks   int    `param:"tasks_per_turn" default:"1" help:"tasks: how many may start in a turn"`
}

// newConfig reads and checks the section of a configuration.
func newConfig(conf *grid.SchedConf) (*Config, error) {
	c := &Config{}
	err := algorithm.Decode(conf.Section(Name), c)
	switch by := algorithm.Groupings(); {
	case err != nil:
	case !by.Has(c.GroupBy):
		err = fmt.Errorf("group_by: %q is none of %s", c.GroupBy, strings.Join(by, ", "))
	case c.Tasks < 1:
		err = fmt.Errorf("tasks_per_turn: %d is less than 1", c.Tasks)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	return c, nil
}
