package jobs

import (
	"context"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
)

// deletion is the command line of qdel.
type deletion struct {
	gdi.DeleteJobs
	format switches.Format
}

var deleteCommand = &switches.Command[deletion]{
	Name:   "qdel",
	Usage:  "[options] job_task_list",
	Indent: 3,
	Column: 44,
	Switches: []switches.Switch[deletion]{
		{Name: "f", Help: "force action",
			Set: switches.Flag(func(d *deletion) *bool { return &d.Force })},
		switches.Fmt(func(d *deletion) *switches.Format { return &d.format }),
		{Name: "help", Help: "print this help"},
		{Name: "u", Args: "user_list", Help: "delete all jobs of users specified in list", Take: switches.One,
			Set: func(d *deletion, w []string) error {
				d.Jobs.Users = append(d.Jobs.Users, switches.Names(w[0])...)
				return nil
			}},
		{Name: "t", Take: switches.One,
			Set: func(d *deletion, w []string) error { return switches.RestrictTasks(d.Jobs.Refs, w[0]) }},
	},
	Operand: func(d *deletion, rest []string) (int, error) {
		return switches.JobWord(&d.Jobs.Refs, rest)
	},
	Legend: "   job_task_list                            delete all jobs given in list\n\n" +
		switches.JobTaskListLegend +
		"user_list               user[,user,...]\n",
	Prefix: "error: ",
}

// RunQdel is qdel(1): it has qmaster delete jobs and prints what became of each. It returns the exit status.
func RunQdel(env opt.Env, args []string) int {
	return opt.RunApp(env, opt.App(env, deleteCommand, deleteJobs), args)
}

func deleteJobs(ctx context.Context, env opt.Env, d *deletion) int {
	if len(d.Jobs.Refs) == 0 && len(d.Jobs.Users) == 0 {
		return opt.Complain(env, deleteCommand, switches.ErrNoOperands)
	}
	_, code := env.Request(ctx, d.format, deleteCommand.Name, &d.DeleteJobs)
	return code
}
