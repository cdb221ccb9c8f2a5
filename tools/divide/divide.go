package divide

import (
	"fmt"
	"math"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Project is one of those that share, and its weight among the others.
type Project struct {
	Name   string
	Weight float64
}

// Projects are the shares as an administrator makes them: project(5).
func Projects(of []Project) (out []grid.Project) {
	for _, p := range of {
		out = append(out, grid.Project{Name: p.Name, FShare: uint32(math.Round(1000 * p.Weight))})
	}
	return out
}

// Share is the part of the whole that the i-th may have, 0 ... 1.
func Share(of []Project, i int) float64 {
	sum := 0.0
	for _, p := range of {
		sum += p.Weight
	}
	return of[i].Weight / sum
}

// equal is the part that each has where weights don't count.
func equal(of []Project, _ int) float64 { return 1 / float64(len(of)) }

// rule is how an algorithm divides.
type rule struct {
	// promise says it in a line.
	promise string
	// share is the part of the whole that it promises while all wait.
	share func(of []Project, i int) float64
	// configure sets the algorithm's parameters in a configuration.
	configure func(conf *grid.SchedConf, of []Project)
}

var rules = map[string]rule{
	"default":    {"functional tickets: what runs follows the weights", Share, functional},
	"fbsng":      {"each start costs its queue: starts follow the weights", Share, prices},
	"gridserver": {"SLA groups: engines at any time by the weights", Share, targets},
	"scoot":      {"class load percents: workers at any time by the weights", Share, percents},
	"roundrobin": {"projects take turns: as many starts each, whatever the weights", equal, turns},
}

// Promise returns what an algorithm promises projects; "" when it promises nothing.
func Promise(algorithm string) string { return rules[algorithm].promise }

// Promised is the part of the whole that an algorithm promises the i-th while
// all wait, 0 ... 1; 0: it promises nothing.
func Promised(algorithm string, of []Project, i int) float64 {
	if share := rules[algorithm].share; share != nil {
		return share(of, i)
	}
	return 0
}

// Configure has an algorithm decide under a configuration, and divide among the
// projects. A section that the configuration already has for it stays.
func Configure(conf grid.SchedConf, algorithm string, of []Project) grid.SchedConf {
	conf.Algorithm = algorithm
	if configure := rules[algorithm].configure; configure != nil && len(of) > 0 && len(conf.Section(algorithm)) == 0 {
		configure(&conf, of)
	}
	return conf
}

// functional is the functional policy with projects alone, sched_conf(5).
func functional(c *grid.SchedConf, _ []Project) {
	c.WeightTicketsFunctional, c.WeightTicket = 1_000_000, 1
	c.WeightUser, c.WeightDepartment, c.WeightJob, c.WeightProject = 0, 0, 0, 1
}

// prices lets queues pay the more the less they may have. A job that was passed
// so many times holds those behind it in its queue, else big ones would wait for
// ever.
func prices(c *grid.SchedConf, of []Project) {
	const passed = 20
	largest := 0.0
	for _, p := range of {
		largest = max(largest, p.Weight)
	}
	rows := []grid.Param{{Name: "group_by", Text: "project"}}
	for _, p := range of {
		price := max(1, int(math.Round(10*largest/p.Weight)))
		rows = append(rows, grid.Param{Name: "queue",
			Text: fmt.Sprintf("%s QPmin=0 QPD=%d SPG=%d", p.Name, price, passed)})
	}
	set(c, "fbsng", rows...)
}

func targets(c *grid.SchedConf, of []Project) {
	if len(of) == 1 { // a fraction has to be less than one
		set(c, "gridserver", grid.Param{Name: "mode", Text: "sla"}, grid.Param{Name: "sla_groups", Text: of[0].Name + "=1"})
		return
	}
	set(c, "gridserver", grid.Param{Name: "mode", Text: "sla"}, grid.Param{Name: "group_by", Text: "project"},
		grid.Param{Name: "sla_groups", Text: list(of, func(i int) string { return fmt.Sprintf("%.6f", Share(of, i)) })})
}

func percents(c *grid.SchedConf, of []Project) {
	set(c, "scoot", grid.Param{Name: "group_by", Text: "project"}, grid.Param{Name: "requestor_map", Text: "none"},
		grid.Param{Name: "class_load_percents", Text: list(of, func(i int) string { return fmt.Sprint(max(1, math.Round(100*Share(of, i)))) })})
}

func turns(c *grid.SchedConf, _ []Project) {
	set(c, "roundrobin", grid.Param{Name: "group_by", Text: "project"})
}

func list(of []Project, value func(i int) string) string {
	var words []string
	for i, p := range of {
		words = append(words, p.Name+"="+value(i))
	}
	return strings.Join(words, ",")
}

func set(c *grid.SchedConf, algorithm string, params ...grid.Param) {
	c.Sections = c.WithSection(grid.Section{Algorithm: algorithm, Params: params})
}
