package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/product"
	"github.com/quill-grid/quill/tools/ge/jobs"
	"github.com/quill-grid/quill/tools/ge/qacct"
	"github.com/quill-grid/quill/tools/ge/qconf"
	"github.com/quill-grid/quill/tools/ge/qevent"
	"github.com/quill-grid/quill/tools/ge/qping"
	"github.com/quill-grid/quill/tools/ge/qrsh"
	"github.com/quill-grid/quill/tools/ge/qstat"
	"github.com/quill-grid/quill/tools/ge/qsub"
	"github.com/quill-grid/quill/tools/ge/reservation"
	"github.com/quill-grid/quill/tools/ge/resources"
	"github.com/quill-grid/quill/tools/gpu"
	"github.com/quill-grid/quill/tools/proposal"
	"github.com/quill-grid/quill/tools/token"
)

// program runs with the words after its name and returns the exit status.
type program func(env opt.Env, args []string) int

// gridEngine are Grid Engine's commands: each has a name of its own, a link.
var gridEngine = map[string]program{
	"qacct":   qacct.Run,
	"qalter":  jobs.RunQalter,
	"qconf":   qconf.Run,
	"qdel":    jobs.RunQdel,
	"qevent":  readEvents,
	"qhold":   jobs.RunQhold,
	"qhost":   resources.RunQhost,
	"qlogin":  qrsh.RunLogin,
	"qmod":    jobs.RunQmod,
	"qping":   qping.Run,
	"qquota":  resources.RunQquota,
	"qrdel":   reservation.RunQrdel,
	"qresub":  jobs.RunQresub,
	"qrls":    jobs.RunQrls,
	"qrsh":    qrsh.Run,
	"qrstat":  reservation.RunQrstat,
	"qrsub":   reservation.RunQrsub,
	"qselect": qstat.RunQselect,
	"qsh":     qrsh.RunQsh,
	"qstat":   qstat.Run,
	"qsub":    qsub.Run,

	"sge_share_mon": resources.RunShareMon,
}

// readEvents is qevent. A directory with a log is read by the laboratory, which contains a server.
func readEvents(env opt.Env, args []string) int {
	if slices.Contains(args, "-log") && !env.IsCompleting() {
		return become(env, "quill-lab", append([]string{"qevent"}, args...))
	}
	return qevent.Run(env, args)
}

// gridNames are their names in order.
func gridNames() (names []string) {
	for n := range gridEngine {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// quill is the program with everything else, and with Grid Engine's commands
// as `quill qsub ...`.
func quill(env opt.Env, args []string) int {
	if len(args) > 0 && gridEngine[args[0]] != nil {
		return gridEngine[args[0]](env, args[1:])
	}
	if run := gridEngine[helpAbout(args)]; run != nil {
		return run(env, []string{"-help"})
	}
	if len(args) > 1 && args[0] == opt.CompleteWord {
		return complete(env, args[1:])
	}
	if len(args) == 1 && (args[0] == "--version" || args[0] == "-v") {
		args = []string{"version"}
	}
	if program := holder(args); program != "" {
		return become(env, program, args)
	}
	return opt.RunMenu(env, menu(), quillCommands, args)
}

// menu is quill without the commands of this program.
func menu() *cli.App {
	return &cli.App{
		Name:  "quill",
		Usage: "run and operate a Quill cell, ask its log, simulate",
		Description: "A cell is found as Grid Engine's commands find it, by SGE_ROOT and SGE_CELL;\n" +
			"without them it is $HOME/.quill/default, or that of the machine. `quill up` and `qsub` just work.\n" +
			"`quill manual COMMAND` shows the manual page of a command.\n\n" +
			"Grid Engine's commands are links to this program, and work as `quill qsub ...` too:\n" +
			strings.Join(gridNames(), " "),
		Commands: otherCommands(),
	}
}

// quillCommands are those of this program.
var quillCommands = []func(opt.Env) *cli.Command{
	downCommand, statusCommand, starterCommand,
	keyCommand, token.Command, proposal.List, proposal.Approve, proposal.Reject, proposeCommand, outputCommand,
	gpu.Command, natsConfigCommand, linksCommand, completionCommand, unitCommand, versionCommand,
}

// proposeCommand is quill propose, of Grid Engine's commands.
func proposeCommand(env opt.Env) *cli.Command {
	programs := map[string]func(opt.Env, []string) int{}
	for name, run := range gridEngine {
		programs[name] = run
	}
	return proposal.Propose(programs)(env)
}

func versionCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version",
		Flags: []cli.Flag{opt.JSONFlag()},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return opt.Usagef("version takes no %q", c.Args().First())
			}
			if c.Bool("json") {
				return document.Write(env.Stdout, document.Version{Name: product.Name, Version: product.Version})
			}
			_, err := fmt.Fprintln(env.Stdout, product.Name, product.Version)
			return err
		},
	}
}
