package gridserver_test

import (
	"testing"

	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/gridserver"
)

func TestLaws(t *testing.T) { algorithmtest.Run(t, gridserver.Entry) }

// TestLawsOfModes keeps the same laws while the modes change. In mode sla all
// users have a group, so that no job is left out.
func TestLawsOfModes(t *testing.T) {
	algorithmtest.Run(t, gridserver.Entry,
		"gridserver.serial_priority=true gridserver.usage_window_s=60",
		"gridserver.serial_service=true gridserver.preemptable_engine_percent=30 gridserver.preempt_delay_seconds=0",
		"gridserver.priority_aggregation=true gridserver.preemptable_engine_percent=90 gridserver.preempt_threshold_minutes=1",
		"gridserver.priority_weights=0,1,0,0.5,2,2,2 gridserver.usage_window_s=300",
		"gridserver.mode=sla gridserver.group_by=owner gridserver.sla_groups=alice=2,bob=3,carol=1 gridserver.sla_preemption=true",
		"gridserver.mode=sla gridserver.group_by=owner gridserver.sla_groups=alice=0.2,bob=0.3,carol=0.9 gridserver.sla_preemption=true",
		"gridserver.preemption=suspend gridserver.preemptable_engine_percent=90 gridserver.preempt_delay_seconds=0 gridserver.usage_window_s=300",
		"gridserver.preemption=suspend gridserver.serial_service=true gridserver.preemptable_engine_percent=90 gridserver.preempt_delay_seconds=0",
		"gridserver.preemption=suspend gridserver.mode=sla gridserver.group_by=owner gridserver.sla_groups=alice=2,bob=3,carol=1 gridserver.sla_preemption=true",
	)
}
