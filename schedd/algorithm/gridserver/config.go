package gridserver

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// Name is what sched_conf(5) `algorithm` calls this one.
const Name = "gridserver"

// Config is the section of the scheduler configuration.
type Config struct {
	Mode                string      `param:"mode" default:"priority" help:"priority or sla"`
	PriorityLevels      int         `param:"priority_levels" default:"10" help:"number of priority levels: 0 is suspended, 5 the usual one"`
	PriorityWeights     []string    `param:"priority_weights" default:"none" help:"weight of each level from 0 on, exact decimals; none: the level itself; 0: suspended"`
	LevelSource         string      `param:"level_source" default:"posix" help:"what gives a session its level: posix (5 + the -p of its job), project, department or queue"`
	LevelMap            grid.Values `param:"level_map" default:"none" help:"name=level or name=urgent, for other level sources than posix; others have level 5"`
	OpenLevels          grid.Values `param:"open_levels" default:"none" help:"name=level or name=urgent: the highest level that users may give to sessions with -ac level=, by owner, project or department; *=level: all"`
	SerialService       bool        `param:"serial_service" default:"false" help:"time algorithm: the oldest session takes all it can"`
	SerialPriority      bool        `param:"serial_priority" default:"false" help:"one level after the other, the highest first"`
	PriorityAggregation bool        `param:"priority_aggregation" default:"false" help:"sessions of a level share its weight"`
	UsageWindowSeconds  int         `param:"usage_window_s" default:"3600" help:"seconds that usage is looked back"`
	PreemptDelaySeconds int         `param:"preempt_delay_seconds" default:"30" help:"seconds that an urgent session waits before it preempts"`
	PreemptablePercent  int         `param:"preemptable_engine_percent" default:"0" help:"percent of engines that urgent sessions may get by preemption; 0: never"`
	Preemption          string      `param:"preemption" default:"requeue" help:"what becomes of a task whose engine is taken: requeue: it starts anew; suspend: it is suspended until there is an engine for it again"`
	PreemptThreshold    float64     `param:"preempt_threshold_minutes" default:"30" help:"minutes of run time that count as much as one level"`
	GroupBy             string      `param:"group_by" default:"project" help:"SLA group of a job: project, department, queue or owner"`
	SLAGroups           grid.Values `param:"sla_groups" default:"none" help:"name=value of each SLA group: all numbers of engines, or all fractions between 0 and 1"`
	SLAPreemption       bool        `param:"sla_preemption" default:"false" help:"groups below their target take engines back"`

	weights []weight // by level, or by SLA group
}

// weight is a weight as it was written, and as a number that is nearly the
// same.
type weight struct {
	*big.Rat
	near float64
}

func newWeight(text string) (w weight, ok bool) {
	if strings.ContainsAny(text, "/_xXpP") {
		return w, false
	}
	w.Rat, ok = new(big.Rat).SetString(text)
	if ok {
		w.near, _ = w.Float64()
	}
	return w, ok && w.Sign() >= 0
}

const (
	priorityMode = "priority"
	slaMode      = "sla"
)

// usualLevel is the level of who says nothing.
const usualLevel = 5

// urgentWord names the level of urgent sessions.
const urgentWord = "urgent"

// urgentPriority is the -p that makes a session urgent; only operators may ask
// for it.
const urgentPriority = 1024

// newConfig reads and checks the section of a configuration.
func newConfig(conf *grid.SchedConf) (*Config, error) {
	c := &Config{}
	if err := algorithm.Decode(conf.Section(Name), c); err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	for _, check := range [...]func() error{c.checkChoices, c.checkLevels, c.checkGroups} {
		if err := check(); err != nil {
			return nil, fmt.Errorf("%s: %w", Name, err)
		}
	}
	if !c.sla() {
		c.weights = c.levelWeights()
	}
	return c, nil
}

func (c *Config) sla() bool { return c.Mode == slaMode }

// milliseconds of the window.
func (c *Config) window() grid.Time { return grid.Time(c.UsageWindowSeconds) * 1000 }

func (c *Config) checkChoices() error {
	for _, p := range [...]struct {
		name, value string
		choices     []string
	}{
		{"mode", c.Mode, []string{priorityMode, slaMode}},
		{"level_source", c.LevelSource, []string{"posix", "project", "department", "queue"}},
		{"group_by", c.GroupBy, algorithm.Groupings()},
		{"preemption", c.Preemption, algorithm.Preemptions()},
	} {
		if !grid.Names(p.choices).Has(p.value) {
			return fmt.Errorf("%s: %q is none of %s", p.name, p.value, strings.Join(p.choices, ", "))
		}
	}
	for _, p := range [...]struct {
		name             string
		value, min, most int
	}{
		{"priority_levels", c.PriorityLevels, 1, 1000},
		{"usage_window_s", c.UsageWindowSeconds, 1, 1 << 30},
		{"preempt_delay_seconds", c.PreemptDelaySeconds, 0, 1 << 30},
		{"preemptable_engine_percent", c.PreemptablePercent, 0, 100},
	} {
		if p.value < p.min || p.value > p.most {
			return fmt.Errorf("%s: %d is not between %d and %d", p.name, p.value, p.min, p.most)
		}
	}
	if m := c.PreemptThreshold; !(m*60_000 >= 1 && m <= 1<<24) {
		return fmt.Errorf("preempt_threshold_minutes: %v is not between a millisecond and %d minutes", m, 1<<24)
	}
	return nil
}

func (c *Config) checkLevels() error {
	if len(c.PriorityWeights) > c.PriorityLevels {
		return fmt.Errorf("priority_weights: %d weights for %d levels", len(c.PriorityWeights), c.PriorityLevels)
	}
	for _, text := range c.PriorityWeights {
		if _, ok := newWeight(text); !ok {
			return fmt.Errorf("priority_weights: %q is no weight", text)
		}
	}
	for _, p := range [...]struct {
		name   string
		levels grid.Values
	}{{"level_map", c.LevelMap}, {"open_levels", c.OpenLevels}} {
		for _, v := range p.levels {
			if _, ok := c.parseLevel(v.Text); !ok {
				return fmt.Errorf("%s: %s=%s: neither urgent nor a level from 0 to %d", p.name, v.Name, v.Text, c.PriorityLevels-1)
			}
		}
	}
	return nil
}

// parseLevel reads a level, or the word urgent, which is the one above all.
func (c *Config) parseLevel(text string) (level int, ok bool) {
	if text == urgentWord {
		return c.PriorityLevels, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n < c.PriorityLevels
}

// highestOpen returns the highest level that the owner of a job may give it; -1: none.
func (c *Config) highestOpen(j *grid.Job) (most int) {
	most = -1
	for _, v := range c.OpenLevels {
		if v.Name == "*" || v.Name == j.Owner || v.Name == j.Project || v.Name == j.Department {
			level, _ := c.parseLevel(v.Text)
			most = max(most, level)
		}
	}
	return most
}

// chosenLevel returns the level that the owner of a job has given it, or as much of it as is open now; false: none.
func (c *Config) chosenLevel(j *grid.Job) (level int, any bool) {
	text := algorithm.ContextOf(j, "level")
	if text == "" {
		return 0, false
	}
	n, ok := c.parseLevel(text)
	most := c.highestOpen(j)
	return min(n, most), ok && most >= 0
}

// levelWeights are those that are given, none beyond them; or the levels
// themselves.
func (c *Config) levelWeights() []weight {
	out := make([]weight, c.PriorityLevels)
	for level := range out {
		text := strconv.Itoa(level)
		if len(c.PriorityWeights) > 0 {
			text = "0"
		}
		if level < len(c.PriorityWeights) {
			text = c.PriorityWeights[level]
		}
		out[level], _ = newWeight(text)
	}
	return out
}

// checkGroups holds the values of the SLA groups to be of one sort: whole
// numbers from 1 on, or fractions between 0 and 1.
func (c *Config) checkGroups() error {
	one := big.NewRat(1, 1)
	var whole, parts int
	seen := map[string]bool{}
	var weights []weight
	for _, v := range c.SLAGroups {
		w, ok := newWeight(v.Text)
		switch {
		case seen[v.Name]:
			return fmt.Errorf("sla_groups: %s appears more than once", v.Name)
		case ok && w.Sign() > 0 && w.Cmp(one) < 0:
			parts++
		case ok && w.IsInt() && w.Cmp(one) >= 0 && !strings.ContainsAny(v.Text, ".eE"):
			whole++
		default:
			return fmt.Errorf("sla_groups: %s=%s: neither a whole number from 1 on nor a fraction between 0 and 1", v.Name,
				v.Text)
		}
		if whole > 0 && parts > 0 {
			return fmt.Errorf("sla_groups: whole numbers and fractions can't be mixed")
		}
		seen[v.Name] = true
		weights = append(weights, w)
	}
	if c.sla() {
		if len(weights) == 0 {
			return fmt.Errorf("sla_groups: mode sla needs at least one group")
		}
		c.weights = weights
	}
	return nil
}

// level is the priority level of a job, and whether it is urgent.
func (c *Config) level(j *grid.Job) (level int, urgent bool) {
	if n, any := c.chosenLevel(j); any {
		return min(n, c.PriorityLevels-1), n >= c.PriorityLevels
	}
	if c.LevelSource == "posix" {
		return min(max(usualLevel+int(j.Priority), 0), c.PriorityLevels-1), j.Priority >= urgentPriority
	}
	text, _ := c.LevelMap.Get(algorithm.GroupOf(c.LevelSource, j))
	n, err := strconv.Atoi(text)
	if err != nil {
		n = min(usualLevel, c.PriorityLevels-1)
	}
	return n, text == urgentWord
}

// slaGroup is the place of a job's SLA group in the configuration, -1 when it
// has none.
func (c *Config) slaGroup(j *grid.Job) int {
	name := algorithm.GroupOf(c.GroupBy, j)
	for i, v := range c.SLAGroups {
		if v.Name == name {
			return i
		}
	}
	return -1
}

// badContext returns what is wrong with the words for this algorithm in the context of a job; "": nothing.
func (c *Config) badContext(j *grid.Job) string {
	if text := algorithm.ContextOf(j, "affinity_wait_ms"); text != "" {
		if _, ok := affinityWait(j); !ok {
			return fmt.Sprintf("affinity_wait_ms=%s is no number of milliseconds", text)
		}
	}
	text := algorithm.ContextOf(j, "level")
	if text == "" {
		return ""
	}
	n, ok := c.parseLevel(text)
	switch most := c.highestOpen(j); {
	case !ok:
		return fmt.Sprintf("level=%s is neither urgent nor a level from 0 to %d", text, c.PriorityLevels-1)
	case most < 0:
		return fmt.Sprintf("level=%s: no levels are open to %s (parameter open_levels of gridserver)", text, j.Owner)
	case n > most && most < c.PriorityLevels:
		return fmt.Sprintf("level=%s: levels up to %d are open to %s (parameter open_levels of gridserver)",
			text, most, j.Owner)
	}
	return ""
}
