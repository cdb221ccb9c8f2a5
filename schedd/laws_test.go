package schedd_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
)

// TestSwaps swaps between all algorithms of the table; the laws of one algorithm
// are tested beside it.
func TestSwaps(t *testing.T) {
	algorithmtest.Swaps(t, shipped.Algorithms(),
		section("fbsng", "group_by owner", "queue alice QPI=2 QPD=3 QPG=4", "queue bob SPG=2"),
		section("fbsng", "group_by owner", "process_type licensed resources=lic=1 quota=lic=2",
			"process_type few quota=processes=3", "queue alice process_type=licensed", "queue bob process_type=few QPD=2"),
		section("gridserver", "preemptable_engine_percent 50", "preempt_delay_seconds 0"),
		section("gridserver", "usage_window_s 60"),
		section("gridserver", "preemption suspend", "preemptable_engine_percent 70", "preempt_delay_seconds 0"),
		section("gridserver", "mode sla", "preemption suspend", "group_by owner", "sla_groups alice=2,bob=1,carol=1,root=1",
			"sla_preemption true"),
		section("scoot", "requestor_map none", "class_load_percents land=50,diff=40,other=10", "rebalance_threshold 20",
			"rebalance_min_duration_s 10"),
		section("scoot", "requestor_map none", "class_load_percents land=60,diff=40", "rebalance_threshold 5",
			"rebalance_min_duration_s 1", "preemption suspend"),
		section("roundrobin", "group_by project", "tasks_per_turn 2"))
}

func section(algorithm string, lines ...string) grid.Section {
	s := grid.Section{Algorithm: algorithm}
	for _, l := range lines {
		name, text, _ := strings.Cut(l, " ")
		s.Params = append(s.Params, grid.Param{Name: name, Text: text})
	}
	return s
}

// TestPreempting checks that algorithms accept the parameters with which they preempt as often as they can.
func TestPreempting(t *testing.T) {
	n := 0
	for _, e := range shipped.Algorithms() {
		if e.Preempting == nil {
			continue
		}
		n++
		conf := *grid.DefaultSchedConf()
		conf.Algorithm = e.Name
		conf.Sections = conf.WithSection(grid.Section{
			Algorithm: e.Name, Params: e.Preempting([]algorithm.Project{{Name: "a", Weight: 3}, {Name: "b", Weight: 1}})})
		if err := e.Complete(&conf, nil); err != nil {
			t.Errorf("%s refuses how it preempts: %v", e.Name, err)
		}
	}
	if n == 0 {
		t.Error("no algorithm preempts")
	}
}

// TestDivisions checks that each algorithm accepts the parameters with which it divides a cell, and promises no more
// than all of it.
func TestDivisions(t *testing.T) {
	for _, e := range shipped.Algorithms() {
		for _, of := range [][]algorithm.Project{{{Name: "a", Weight: 1}},
			{{Name: "a", Weight: 3}, {Name: "b", Weight: 1}, {Name: "c", Weight: 0.1}}} {
			conf := e.Divide(*grid.DefaultSchedConf(), of)
			conf.Sections = conf.WithSection(
				grid.Section{Algorithm: e.Name, Params: append(conf.Section(e.Name), e.Division.Prompt...)})
			if err := e.Complete(&conf, nil); err != nil || conf.Algorithm != e.Name {
				t.Errorf("%s refuses how it divides among %d: %v", e.Name, len(of), err)
			}
			sum := 0.0
			for i := range of {
				sum += e.Promised(of, i)
			}
			if e.Division.Promise != "" && math.Abs(sum-1) > 1e-9 {
				t.Errorf("%s promises %g of the cell to %d projects", e.Name, sum, len(of))
			}
		}
	}
}

// TestWrongNames: a name in a random configuration that is none is refused with the names that there are.
func TestWrongNames(t *testing.T) {
	const wrong = "nosuch"
	of := map[string][]struct {
		lines []string // %s: a right name, or the wrong one
		right []string
	}{
		"fbsng": {
			{[]string{"group_by %s"}, algorithm.Groupings()},
			{[]string{"type_source %s"}, []string{"context", "account", "project"}},
			{[]string{"process_type pl", "queue q QPmin=1 process_type=%s"}, []string{"pl"}},
			{[]string{"process_type pl resources=%s=1"}, []string{"lic", "h_vmem"}},
			{[]string{"process_type pl quota=%s=1"}, []string{"lic", "processes"}},
			{[]string{"process_type pl attributes=%s"}, []string{"bigmem"}},
			{[]string{"queue q %s=1"}, []string{"QPmin", "QPI", "QPG"}},
			{[]string{"%s 3"}, []string{"min_period_s"}},
		},
		"gridserver": {
			{[]string{"mode %s"}, []string{"priority"}},
			{[]string{"level_source %s"}, []string{"posix", "queue"}},
			{[]string{"preemption %s"}, []string{"requeue", "suspend"}},
			{[]string{"group_by %s"}, algorithm.Groupings()},
			{[]string{"level_map a=%s"}, []string{"urgent", "3"}},
			{[]string{"open_levels *=%s"}, []string{"urgent", "3"}},
			{[]string{"%s 3"}, []string{"usage_window_s", "preempt_delay_seconds"}},
		},
		"scoot": {
			{[]string{"class_load_percents land=50,diff=50", "requestor_map x %s"}, []string{"land", "diff"}},
			{[]string{"preemption %s"}, []string{"requeue", "suspend"}},
			{[]string{"group_by %s"}, algorithm.Groupings()},
			{[]string{"requestor {%s}"}, []string{"owner", "job_name"}},
			{[]string{"%s 3"}, []string{"rebalance_threshold"}},
		},
		"roundrobin": {
			{[]string{"group_by %s"}, algorithm.Groupings()},
			{[]string{"%s 3"}, []string{"tasks_per_turn"}},
		},
		"default": {{[]string{"%s 3"}, nil}},
	}
	cell := state.New()
	for _, e := range []*grid.Centry{{Name: "lic", Type: "INT"}, {Name: "h_vmem", Type: "MEMORY"},
		{Name: "bigmem", Type: "BOOL"}} {
		cell.Apply(events.List{Events: []events.Event{events.Add(e)}})
	}
	for _, e := range shipped.Algorithms() {
		kinds := of[e.Name]
		if kinds == nil {
			t.Errorf("%s is not tried", e.Name)
			continue
		}
		r := rand.New(rand.NewPCG(1, 1))
		for range 200 {
			k := kinds[r.IntN(len(kinds))]
			configure := func(name string) error {
				var lines []string
				for _, l := range k.lines {
					lines = append(lines, strings.Replace(l, "%s", name, 1))
				}
				var conf grid.SchedConf
				conf.Sections = conf.WithSection(section(e.Name, lines...))
				return e.Complete(&conf, cell)
			}
			for _, name := range k.right {
				if err := configure(name); err != nil {
					t.Fatalf("%s: %s in %q is refused: %v", e.Name, name, k.lines, err)
				}
			}
			err := configure(wrong)
			if err == nil || !strings.Contains(err.Error(), wrong) {
				t.Fatalf("%s: %q with a wrong name: %v", e.Name, k.lines, err)
			}
			for _, name := range k.right {
				if !strings.Contains(err.Error(), name) && name != "3" {
					t.Errorf("%s: %q: the refusal does not name %s: %v", e.Name, k.lines, name, err)
				}
			}
		}
	}
}
