package sched

import (
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/topology"
)

// TestUnits: every unit that a job may ask for is one of a topology.
func TestUnits(t *testing.T) {
	for _, name := range grid.BindUnits {
		if _, ok := topology.ParseUnit(name); !ok {
			t.Errorf("%s is no unit of a topology", name)
		}
	}
}
