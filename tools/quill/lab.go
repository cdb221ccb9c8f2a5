package main

import (
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/daemons"
)

// laboratory are the commands of the program quill-lab: what `quill help` says
// of them.
var laboratory = []struct{ name, usage string }{
	{"attack", "attack a throw-away cell as a user, a host and a scheduler while an honest user works"},
	{"bench", "measure throw-away cells against the limits of this machine"},
	{"log", "what there is of a cell's log; export, import, verify it"},
	{"manual", "list the chapters, pages and JSON Schemas of the manual, or show one"},
	{"replay", "show the cell as it was: the output of a command at any list or time of the log, or the log step by step"},
	{"sim", "replay a workload log on virtual time and show how its jobs fare"},
	{"why", "explain a job from the log: why it waited, what started before it, how it ended"},
}

// laboratoryCommands are for the list only: goToLaboratory comes first.
func laboratoryCommands() (commands []*cli.Command) {
	for _, l := range laboratory {
		commands = append(commands, &cli.Command{Name: l.name, Usage: l.usage, Category: "laboratory"})
	}
	return commands
}

// forLaboratory reports whether a command, or help about it, is the laboratory's.
func forLaboratory(args []string) bool {
	if len(args) > 1 && (args[0] == "help" || args[0] == "h") {
		args = args[1:]
	}
	for _, l := range laboratory {
		if len(args) > 0 && args[0] == l.name {
			return true
		}
	}
	return false
}

// goToLaboratory makes this process the program quill-lab. It returns only when
// that failed.
func goToLaboratory(env opt.Env, args []string) int {
	path, err := daemons.Program("quill-lab")
	if err == nil {
		err = syscall.Exec(path, append([]string{filepath.Base(path)}, args...), env.Environ)
	}
	fmt.Fprintf(env.Stderr, "quill: %s is a command of the laboratory: %v\n", args[0], err)
	return 1
}
