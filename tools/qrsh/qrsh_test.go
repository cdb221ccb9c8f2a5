package qrsh

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/opt/opttest"
)

// TestTranscripts runs the sessions in testdata, a folder for each command.
func TestTranscripts(t *testing.T) {
	for command, run := range map[string]func(opt.Env, []string) int{"qrsh": Run, "qlogin": RunLogin} {
		datadriven.Walk(t, "testdata/"+command, func(t *testing.T, path string) {
			desk := opttest.New(t, run)
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				var args []string
				for _, a := range d.CmdArgs {
					args = append(args, a.String())
				}
				return desk.Do(d.Cmd, args, d.Input)
			})
		})
	}
}
