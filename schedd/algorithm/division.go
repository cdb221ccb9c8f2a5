package algorithm

import (
	"math"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Division is how an algorithm is configured to divide a cell among projects by their weights: what the simulator and
// the demo compare algorithms with. An algorithm without one runs with its own defaults.
type Division struct {
	// Promise says in a line what projects get while all of them have jobs that wait.
	Promise string
	// Share returns the part of the cell that is promised to the i-th project then, 0 ... 1.
	Share func(of []Project, i int) float64
	// Configure sets the parameters in a configuration, for at least one project.
	Configure func(conf *grid.SchedConf, of []Project)
	// Prompt are the parameters with which tasks of less than a second do not wait for the next run; none: they never do.
	Prompt []grid.Param
}

// Dividing returns the entry with a division.
func (e Entry) Dividing(d Division) Entry {
	e.Division = d
	return e
}

// WithPreempting returns the entry with the parameters with which it preempts.
func (e Entry) WithPreempting(params func(owners []Project) []grid.Param) Entry {
	e.Preempting = params
	return e
}

// Project is one of those that share, or an owner, and its weight among the others.
type Project struct {
	Name   string
	Weight float64
}

// Projects returns the shares as an administrator configures them: project(5).
func Projects(of []Project) (out []grid.Project) {
	for _, p := range of {
		out = append(out, grid.Project{Name: p.Name, FShare: uint32(math.Round(1000 * p.Weight))})
	}
	return out
}

// ByWeight is the Share of an algorithm that divides by the weights.
func ByWeight(of []Project, i int) float64 {
	sum := 0.0
	for _, p := range of {
		sum += p.Weight
	}
	return of[i].Weight / sum
}

// Equally is the Share of an algorithm that does not know weights.
func Equally(of []Project, _ int) float64 { return 1 / float64(len(of)) }

// Weighted returns a parameter that has a value for each project: a=1,b=2.
func Weighted(name string, of []Project, value func(i int) string) grid.Param {
	var words []string
	for i, p := range of {
		words = append(words, p.Name+"="+value(i))
	}
	return grid.Param{Name: name, Text: strings.Join(words, ",")}
}

// Promised returns the part of the cell that is promised to the i-th project while all wait, 0 ... 1; 0: nothing is
// promised.
func (e Entry) Promised(of []Project, i int) float64 {
	if e.Division.Share == nil {
		return 0
	}
	return e.Division.Share(of, i)
}

// Divide returns a configuration under which the algorithm decides, and divides the cell among the projects. A section
// that the configuration already has for it stays.
func (e Entry) Divide(conf grid.SchedConf, of []Project) grid.SchedConf {
	conf.Algorithm = e.Name
	if e.Division.Configure != nil && len(of) > 0 && len(conf.Section(e.Name)) == 0 {
		e.Division.Configure(&conf, of)
	}
	return conf
}
