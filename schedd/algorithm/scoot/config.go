package scoot

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// Name is what sched_conf(5) `algorithm` calls this one.
const Name = "scoot"

// Config is the section of the scheduler configuration.
type Config struct {
	ClassLoadPercents  grid.Values `param:"class_load_percents" default:"land=40,diff=25,regression=17,sandbox=10,ktf=3,coverage=2,tryout=2,unknown=1" help:"class=percent of the workers; brought to a sum of 100; the smallest is for jobs of no class"`
	RequestorMap       []Row       `param:"requestor_map" default:"land.* land|diff.* diff|sandbox.* sandbox|regression.* regression|CI.* regression|jenkins.* ktf|ktf.* ktf|coverage.* coverage|tryout.* tryout" help:"pattern class: the first pattern (RE2) found in a requestor gives its class; none: the group is the class"`
	RebalanceThreshold int         `param:"rebalance_threshold" default:"0" help:"percent points that classes may lie apart; 0: never rebalance"`
	RebalanceMin       int         `param:"rebalance_min_duration_s" default:"240" help:"seconds that they must have, before tasks are stopped; 0: never rebalance"`
	MaxTaskDuration    int         `param:"max_task_duration_s" default:"14400" help:"seconds of run time from which a task is not stopped any more"`
	Preemption         string      `param:"preemption" default:"requeue" help:"what becomes of a task that is stopped: requeue: it starts anew; suspend: it is suspended until its class has a worker for it again"`
	Requestor          string      `param:"requestor" default:"{owner}" help:"the requestor, from {owner} {project} {department} {job_name} {account}"`
	GroupBy            string      `param:"group_by" default:"project" help:"the group of a job: project, department, queue or owner"`

	order    []string // the classes, the largest percentage first
	percents []int    // in that order, with a sum of 100
	patterns []pattern
	class    map[string]int // by name, the place in the order
	template []func(*grid.Job) string
}

// Row is a line of the requestor map.
type Row struct{ Pattern, Class string }

type pattern struct {
	*regexp.Regexp
	class string
}

// field is something of a job that the requestor can be made of.
type field struct {
	name string
	of   func(*grid.Job) string
}

var fields = [...]field{
	{"{owner}", func(j *grid.Job) string { return j.Owner }},
	{"{project}", func(j *grid.Job) string { return j.Project }},
	{"{department}", func(j *grid.Job) string { return j.Department }},
	{"{job_name}", func(j *grid.Job) string { return j.Name }},
	{"{account}", func(j *grid.Job) string { return j.Account }},
}

// newConfig reads and checks the section of a configuration.
func newConfig(conf *grid.SchedConf) (*Config, error) {
	c := &Config{}
	if err := algorithm.Decode(conf.Section(Name), c); err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	for _, check := range [...]func() error{c.readPercents, c.readMap, c.check} {
		if err := check(); err != nil {
			return nil, fmt.Errorf("%s: %w", Name, err)
		}
	}
	return c, nil
}

// readPercents orders the classes by percentage as it is written, then by
// name, and brings the sum to 100: rounded down, and the largest class takes
// the rest.
func (c *Config) readPercents() error {
	given, sum := map[string]int{}, 0
	for _, v := range c.ClassLoadPercents {
		n, err := strconv.Atoi(v.Text)
		switch {
		case err != nil:
			return fmt.Errorf("class_load_percents: %s=%s: %q is no whole number", v.Name, v.Text, v.Text)
		case n < 0 || n > most:
			return fmt.Errorf("class_load_percents: %s=%d is not between 0 and %d", v.Name, n, most)
		}
		if _, twice := given[v.Name]; twice {
			return fmt.Errorf("class_load_percents: %s appears more than once", v.Name)
		}
		given[v.Name] = n
		sum += n
		c.order = append(c.order, v.Name)
	}
	if sum == 0 {
		return fmt.Errorf("class_load_percents: the sum is 0")
	}
	slices.SortFunc(c.order, func(a, b string) int {
		return cmp.Or(cmp.Compare(given[b], given[a]), cmp.Compare(a, b))
	})
	c.percents, c.class = make([]int, len(c.order)), map[string]int{}
	rest := 100
	for i, name := range c.order {
		c.class[name] = i
		c.percents[i] = 100 * given[name] / sum
		rest -= c.percents[i]
	}
	c.percents[0] += rest
	return nil
}

// most is what a whole number may be at most.
const most = 1 << 30

func (c *Config) readMap() error {
	for _, r := range c.RequestorMap {
		re, err := regexp.Compile(r.Pattern)
		if err != nil {
			return fmt.Errorf("requestor_map: %w", err)
		}
		c.patterns = append(c.patterns, pattern{re, r.Class})
	}
	return nil
}

func (c *Config) check() error {
	for _, p := range [...]struct {
		name  string
		value int
	}{
		{"rebalance_threshold", c.RebalanceThreshold},
		{"rebalance_min_duration_s", c.RebalanceMin},
		{"max_task_duration_s", c.MaxTaskDuration},
	} {
		if p.value < 0 || p.value > most {
			return fmt.Errorf("%s: %d is not between 0 and %d", p.name, p.value, most)
		}
	}
	if err := c.readRequestor(); err != nil {
		return err
	}
	for _, p := range [...]struct {
		name, value string
		choices     grid.Names
	}{
		{"preemption", c.Preemption, algorithm.Preemptions()},
		{"group_by", c.GroupBy, algorithm.Groupings()},
	} {
		if !p.choices.Has(p.value) {
			return fmt.Errorf("%s: %q is none of %s", p.name, p.value, strings.Join(p.choices, ", "))
		}
	}
	return nil
}

// readRequestor takes the template apart.
func (c *Config) readRequestor() error {
	for text := c.Requestor; text != ""; {
		k := slices.IndexFunc(fields[:], func(f field) bool { return strings.HasPrefix(text, f.name) })
		if k >= 0 {
			c.template = append(c.template, fields[k].of)
			text = text[len(fields[k].name):]
			continue
		}
		if text[0] == '{' || text[0] == '}' {
			return fmt.Errorf(
				"requestor: %q has a field that is none of {owner}, {project}, {department}, {job_name}, {account}", c.Requestor)
		}
		end := len(text)
		if i := strings.IndexAny(text, "{}"); i > 0 {
			end = i
		}
		literal := text[:end]
		c.template = append(c.template, func(*grid.Job) string { return literal })
		text = text[end:]
	}
	return nil
}

// requestor returns the requestor of a job: the key of the map, or, where there
// is no map, the job's group.
func (c *Config) requestor(j *grid.Job) string {
	if len(c.patterns) == 0 {
		return algorithm.GroupOf(c.GroupBy, j)
	}
	if len(c.template) == 1 {
		return c.template[0](j)
	}
	var b strings.Builder
	for _, part := range c.template {
		b.WriteString(part(j))
	}
	return b.String()
}

// classify returns the position of a requestor's class. A requestor without one belongs
// to the last.
func (c *Config) classify(requestor string) (class int, matched bool) {
	name := requestor
	for _, p := range c.patterns {
		if p.MatchString(requestor) {
			name, matched = p.class, true
			break
		}
	}
	class, known := c.class[name]
	if !known || len(c.patterns) > 0 && !matched {
		return len(c.order) - 1, false
	}
	return class, true
}
