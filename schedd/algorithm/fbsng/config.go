package fbsng

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// Name is what sched_conf(5) `algorithm` calls this one.
const Name = "fbsng"

// Config is the section of the scheduler configuration.
type Config struct {
	GroupBy      string        `param:"group_by" default:"project" help:"what puts a job into its queue: project, department, queue or owner"`
	MinPeriod    float64       `param:"min_period_s" default:"5" help:"seconds: at most one run in this time"`
	TypeSource   string        `param:"type_source" default:"context" help:"what names the process type of a section that has no -ac process_type: context (nothing does), account (-A), project, department, queue or owner; without one the section has its queue's"`
	Queues       []Queue       `param:"queue" help:"one line each: name, QPmin and QPmax, its priority's bounds; QPI, growth when passed over; QPD, price of a start; QPG and SPG, gaps at which the first queue or section holds others; process_type; held"`
	ProcessTypes []ProcessType `param:"process_type" help:"one line each: name, resources of each process, attributes of its nodes, quota: the most that sections of the type use at once, processes among it"`
}

// Queue contains the parameters of a queue: a group of jobs.
type Queue struct {
	Name        string
	Min         int    `param:"QPmin"`
	Max         *int   `param:"QPmax" default:"none"`
	Growth      int    `param:"QPI" default:"1"`
	Price       int    `param:"QPD" default:"1"`
	Gap         *int   `param:"QPG" default:"none"`
	SectionGap  *int   `param:"SPG" default:"none"`
	ProcessType string `param:"process_type" default:"default"`
	Held        bool   `param:"held"`
}

// ProcessType is what a process takes unless its section asks for more.
type ProcessType struct {
	Name       string
	Resources  grid.Values `param:"resources"`
	Attributes []string    `param:"attributes"`
	Quota      grid.Values `param:"quota"`
}

// defaultType is the process type of queues that name none. It takes nothing
// but a slot unless it is configured.
const defaultType = "default"

// newConfig reads and checks the section of a configuration.
func newConfig(conf *grid.SchedConf) (*Config, error) {
	c := &Config{}
	err := algorithm.Decode(conf.Section(Name), c)
	if err == nil {
		err = c.validate()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	return c, nil
}

func (c *Config) validate() error {
	if by := algorithm.Groupings(); !by.Has(c.GroupBy) {
		return fmt.Errorf("group_by: %q is none of %s", c.GroupBy, strings.Join(by, ", "))
	}
	if sources := append(grid.Names{byContext, byAccount}, algorithm.Groupings()...); !sources.Has(c.TypeSource) {
		return fmt.Errorf("type_source: %q is none of %s", c.TypeSource, strings.Join(sources, ", "))
	}
	if !(c.MinPeriod >= 0 && c.MinPeriod <= 1e6) {
		return fmt.Errorf("min_period_s: %v is no number of seconds", c.MinPeriod)
	}
	for _, q := range c.Queues {
		switch {
		case q.Max != nil && *q.Max < q.Min:
			return fmt.Errorf("queue: %s: QPmax=%d is less than QPmin=%d", q.Name, *q.Max, q.Min)
		case q.Growth < 0 || q.Price < 0:
			return fmt.Errorf("queue: %s: QPI and QPD can't be negative", q.Name)
		case q.Gap != nil && *q.Gap < 0 || q.SectionGap != nil && *q.SectionGap < 0:
			return fmt.Errorf("queue: %s: QPG and SPG can't be negative", q.Name)
		case q.ProcessType != defaultType && c.processType(q.ProcessType) == nil:
			return fmt.Errorf("queue: %s: process_type=%s is none of %s", q.Name, q.ProcessType, c.typeNames())
		}
	}
	for _, t := range c.ProcessTypes {
		for _, v := range slices.Concat(t.Resources, t.Quota) {
			if n, ok := grid.CentryType("MEMORY").Parse(v.Text); !ok || n < 0 {
				return fmt.Errorf("process_type: %s: %s=%s is no amount", t.Name, v.Name, v.Text)
			}
		}
	}
	return nil
}

func (c *Config) processType(name string) *ProcessType {
	for i := range c.ProcessTypes {
		if c.ProcessTypes[i].Name == name {
			return &c.ProcessTypes[i]
		}
	}
	return nil
}

// typeNames lists the names of all process types.
func (c *Config) typeNames() string {
	names := []string{defaultType}
	for _, t := range c.ProcessTypes {
		if t.Name != defaultType {
			names = append(names, t.Name)
		}
	}
	return strings.Join(names, ", ")
}

// findQueue is a queue and its place in the order of the configuration; those that
// are not configured come last and have the defaults.
func (c *Config) findQueue(name string) (Queue, int) {
	for i, q := range c.Queues {
		if q.Name == name {
			return q, i
		}
	}
	return defaultQueue(name), len(c.Queues)
}

// defaultQueue is a queue with the default of every parameter.
func defaultQueue(name string) Queue {
	return Queue{Name: name, Growth: 1, Price: 1, ProcessType: defaultType}
}

// queueOf names the queue of a job, "none" when it has none.
func (c *Config) queueOf(j *grid.Job) string {
	return cmp.Or(algorithm.GroupOf(c.GroupBy, j), "none")
}

// What else than a group names process types.
const (
	byContext = "context"
	byAccount = "account"
)

// typeOf names the process type of a job: its own, or its queue's.
func (c *Config) typeOf(j *grid.Job) string {
	if name := algorithm.ContextOf(j, "process_type"); name != "" {
		return name
	}
	switch c.TypeSource {
	case byContext:
	case byAccount:
		if j.Account != grid.DefaultAccount && j.Account != "" {
			return j.Account
		}
	default:
		if name := algorithm.GroupOf(c.TypeSource, j); c.processType(name) != nil {
			return name
		}
	}
	q, _ := c.findQueue(c.queueOf(j))
	return q.ProcessType
}

// clamp keeps a priority within the bounds of its queue.
func (q Queue) clamp(p int) int {
	if q.Max != nil {
		p = min(p, *q.Max)
	}
	return max(p, q.Min)
}

// Next is when the run happens that an event asks for, after a last run:
// at once, or when the period is over.
func (c *Config) Next(last, event grid.Time) grid.Time { return max(event, last.Add(c.MinPeriod)) }
