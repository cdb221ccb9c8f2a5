package qdel

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
)

// commandLine is the command line.
type commandLine struct {
	gdi.DeleteJobs
	format switches.Format
}

var command = &switches.Command[commandLine]{
	Name:   "qdel",
	Usage:  "[options] job_task_list",
	Indent: 3,
	Column: 44,
	Switches: []switches.Switch[commandLine]{
		{Name: "f", Help: "force action",
			Set: switches.Flag(func(d *commandLine) *bool { return &d.Force })},
		switches.Fmt(func(d *commandLine) *switches.Format { return &d.format }),
		{Name: "help", Help: "print this help"},
		{Name: "u", Args: "user_list", Help: "delete all jobs of users specified in list", Take: switches.One,
			Set: func(d *commandLine, w []string) error {
				d.Jobs.Users = append(d.Jobs.Users, switches.Names(w[0])...)
				return nil
			}},
		{Name: "t", Take: switches.One,
			Set: func(d *commandLine, w []string) error { return switches.RestrictTasks(d.Jobs.Refs, w[0]) }},
	},
	Operand: func(d *commandLine, rest []string) (int, error) {
		return switches.JobWord(&d.Jobs.Refs, rest)
	},
	Legend: "   job_task_list                            delete all jobs given in list\n\n" +
		switches.JobTaskListLegend +
		"user_list               user[,user,...]\n",
	Prefix: "error: ",
}

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command, remove) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

func remove(ctx context.Context, env opt.Env, d *commandLine) int {
	if len(d.Jobs.Refs) == 0 && len(d.Jobs.Users) == 0 {
		return opt.Complain(env, command, switches.ErrNoOperands)
	}
	_, code := env.Request(ctx, d.format, command.Name, &d.DeleteJobs)
	return code
}
