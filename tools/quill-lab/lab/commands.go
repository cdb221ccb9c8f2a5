package lab

import (
	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/attack"
	"github.com/quill-grid/quill/tools/backup"
	"github.com/quill-grid/quill/tools/bench"
	"github.com/quill-grid/quill/tools/ge/qevent"
	"github.com/quill-grid/quill/tools/log"
	"github.com/quill-grid/quill/tools/mcp"
	"github.com/quill-grid/quill/tools/metrics"
	"github.com/quill-grid/quill/tools/replay"
	"github.com/quill-grid/quill/tools/sim"
	"github.com/quill-grid/quill/tools/trace"
)

// Commands are all there are, in the order of their names.
var Commands = []func(opt.Env) *cli.Command{
	attack.Command,
	backup.Backup,
	bench.Command,
	log.Command,
	manualCommand,
	mcp.Command,
	metrics.Command,
	qevent.Command,
	replay.Command,
	backup.Restore,
	sim.Command,
	trace.Command,
	whyCommand,
}

// Run runs the command that the words name, as quill would if it held it, and
// returns the exit status.
func Run(env opt.Env, args []string) int {
	app := &cli.App{Name: "quill", Usage: "the laboratory: analyses, simulates, measures"}
	return opt.RunMenu(env, app, Commands, args)
}
