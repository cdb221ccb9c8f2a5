package serve

import (
	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/login"
)

// Commands are all there are, in the order of quill's help.
var Commands = []func(opt.Env) *cli.Command{
	upCommand, demoCommand, schedCommand, qmasterCommand, scheddCommand, execdCommand, shepherdCommand, webCommand,
	adoptCommand, login.Command, login.OutCommand,
}

// Run runs the command that the words name, as quill would if it held it, and
// returns the exit status.
func Run(env opt.Env, args []string) int {
	app := &cli.App{Name: "quill", Usage: "the daemons of a cell"}
	return opt.RunMenu(env, app, Commands, args)
}
