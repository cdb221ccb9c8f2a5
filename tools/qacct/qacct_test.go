package qacct

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt/opttest"
	"github.com/quill-grid/quill/tools/qstat/clustertest"
)

// TestTranscripts runs the sessions in testdata.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		desk := opttest.New(t, Run)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var args []string
			for _, a := range d.CmdArgs {
				args = append(args, a.String())
			}
			if d.Cmd == "hgroup" { // NAME HOST... is the one that qmaster knows
				desk.Objects(&grid.HGroup{Name: args[0], HostList: args[1:]})
				return ""
			}
			if d.Cmd == "cell" { // the small one
				desk.Objects(clustertest.Small()...)
				return ""
			}
			return desk.Do(d.Cmd, args, d.Input)
		})
	})
}
