package main

import (
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
)

// others are the commands that other programs hold: what `quill help` prints of them. Without usage a command is
// hidden.
var others = []struct{ program, category, name, usage string }{
	{"quill-daemon", "", "up", "run a whole cell in this process: server, qmaster, schedd, execds and the HTTP API"},
	{"quill-daemon", "", "demo", "watch a real workload run on a throw-away cell of four hosts"},
	{"quill-daemon", "", "sched", "show the scheduling algorithm in use, its view and decisions, and set its parameters"},
	{"quill-daemon", "", "qmaster", "run the master daemon of the cell in the foreground"},
	{"quill-daemon", "", "schedd", "run the scheduler of the cell in the foreground"},
	{"quill-daemon", "", "execd", "run the execution daemon of this host in the foreground"},
	{"quill-daemon", "", "shepherd", ""},
	{"quill-daemon", "", "web", "serve the HTTP API of the cell in the foreground, or log in to it with --open"},
	{"quill-daemon", "", "adopt", "have a log-in join the user's newest job on this host; started by PAM"},
	{"quill-daemon", "", "login", "log in to a cell at its identity provider or with a certificate"},
	{"quill-daemon", "", "logout", "end the log-in of quill login: revoke its token and remove it"},
	{"quill-lab", "laboratory", "attack",
		"attack a throw-away cell as a user, a host and a scheduler while an honest user works"},
	{"quill-lab", "", "backup", "back up a cell, running or not, to a directory; again to the same one, what is new"},
	{"quill-lab", "laboratory", "bench", "measure throw-away cells against the limits of this machine"},
	{"quill-lab", "laboratory", "log", "show the extent of a cell's log; export, import, verify, move it"},
	{"quill-lab", "laboratory", "manual", "list the chapters, pages and files of the manual, or show one"},
	{"quill-lab", "laboratory", "mcp",
		"serve the cell to agents by the Model Context Protocol: they read, simulate and propose"},
	{"quill-lab", "laboratory", "metrics", "write the metrics of the past as OpenMetrics, for Prometheus to import"},
	{"quill-lab", "laboratory", "qevent", ""},
	{"quill-lab", "laboratory", "replay",
		"show the cell as it was: the output of a command at any list or time of the log, or the log step by step"},
	{"quill-lab", "", "restore", "make a cell of a backup"},
	{"quill-lab", "laboratory", "sim", "replay a workload log on virtual time and show how its jobs fare"},
	{"quill-lab", "laboratory", "trace",
		"export an OpenTelemetry trace of each job from the log, of the past or as jobs end"},
	{"quill-lab", "laboratory", "why",
		"explain a job from the log: why it waited, what started before it, how it ended; or why jobs wait"},
}

// otherCommands are for the list only: become comes first.
func otherCommands() (commands []*cli.Command) {
	for _, o := range others {
		commands = append(commands, &cli.Command{Name: o.name, Usage: o.usage, Category: o.category, Hidden: o.usage == ""})
	}
	return commands
}

// holder returns the program that holds a command or help about it, "": this one.
func holder(args []string) string {
	if helpAbout(args) != "" {
		args = args[1:]
	}
	for _, o := range others {
		if len(args) > 0 && args[0] == o.name {
			return o.program
		}
	}
	return ""
}

// helpAbout returns the command that help is asked about, "" if none.
func helpAbout(args []string) string {
	if len(args) > 1 && (args[0] == "help" || args[0] == "h") {
		return args[1]
	}
	return ""
}

// become makes this process another of Quill's programs. It returns only when
// that failed.
func become(env opt.Env, program string, args []string) int {
	path, err := opt.Program(program)
	if err == nil {
		err = syscall.Exec(path, append([]string{filepath.Base(path)}, args...), env.Environ)
	}
	fmt.Fprintf(env.Stderr, "quill: %s is a command of %s: %v\n", args[0], program, err)
	return 1
}
