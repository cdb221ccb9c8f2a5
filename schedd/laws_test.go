package schedd_test

import (
	"math"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
)

// TestSwaps swaps between all algorithms of the table; the laws of one algorithm
// are tested beside it.
func TestSwaps(t *testing.T) {
	algorithmtest.Swaps(t, schedd.Algorithms(),
		section("fbsng", "group_by owner", "queue alice QPI=2 QPD=3 QPG=4", "queue bob SPG=2"),
		section("gridserver", "preemptable_engine_percent 50", "preempt_delay_seconds 0"),
		section("gridserver", "usage_window_s 60"),
		section("gridserver", "preemption suspend", "preemptable_engine_percent 70", "preempt_delay_seconds 0"),
		section("gridserver", "mode sla", "preemption suspend", "group_by owner", "sla_groups alice=2,bob=1,carol=1,root=1", "sla_preemption true"),
		section("scoot", "requestor_map none", "class_load_percents land=50,diff=40,other=10", "rebalance_threshold 20", "rebalance_min_duration_s 10"),
		section("scoot", "requestor_map none", "class_load_percents land=60,diff=40", "rebalance_threshold 5", "rebalance_min_duration_s 1", "preemption suspend"),
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
	for _, e := range schedd.Algorithms() {
		if e.Preempting == nil {
			continue
		}
		n++
		conf := *grid.DefaultSchedConf()
		conf.Algorithm = e.Name
		conf.Sections = conf.WithSection(grid.Section{Algorithm: e.Name, Params: e.Preempting([]algorithm.Project{{Name: "a", Weight: 3}, {Name: "b", Weight: 1}})})
		if err := e.Complete(&conf); err != nil {
			t.Errorf("%s refuses how it preempts: %v", e.Name, err)
		}
	}
	if n == 0 {
		t.Error("no algorithm preempts")
	}
}

// TestDivisions checks that each algorithm accepts the parameters with which it divides a cell, and promises no more than all of it.
func TestDivisions(t *testing.T) {
	for _, e := range schedd.Algorithms() {
		for _, of := range [][]algorithm.Project{{{Name: "a", Weight: 1}}, {{Name: "a", Weight: 3}, {Name: "b", Weight: 1}, {Name: "c", Weight: 0.1}}} {
			conf := e.Divide(*grid.DefaultSchedConf(), of)
			conf.Sections = conf.WithSection(grid.Section{Algorithm: e.Name, Params: append(conf.Section(e.Name), e.Division.Prompt...)})
			if err := e.Complete(&conf); err != nil || conf.Algorithm != e.Name {
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
