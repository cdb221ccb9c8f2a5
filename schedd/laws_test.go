package schedd_test

import (
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd"
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
