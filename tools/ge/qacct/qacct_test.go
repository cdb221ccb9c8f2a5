package qacct

import (
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt/opttest"
)

// TestTranscripts runs the sessions in testdata.
func TestTranscripts(t *testing.T) {
	opttest.Transcripts(t, "testdata", Run, map[string]opttest.Step{
		"hgroup": func(d *opttest.Desk, args []string) { // NAME HOST... is the one that qmaster knows
			d.Objects(&grid.HGroup{Name: args[0], HostList: args[1:]})
		},
		"cell": func(d *opttest.Desk, _ []string) { d.Objects(opttest.SmallCell()...) }, // the small one
	})
}
