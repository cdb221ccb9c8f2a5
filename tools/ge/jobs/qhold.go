package jobs

import (
	"context"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
)

// holds is the command line of qhold, qrls and qresub.
type holds struct {
	jobs    gdi.Jobs
	letters string // of u o s; of qresub also n U O S
	format  switches.Format
}

// holdCommand is the language of qhold(1) and qrls(1): user holds unless -h
// says otherwise.
func holdCommand(name string) *switches.Command[holds] {
	return &switches.Command[holds]{
		Name:   name,
		Usage:  "[options] job_task_list",
		Indent: 3,
		Column: 44,
		New:    func([]string) *holds { return &holds{letters: "u"} },
		Switches: []switches.Switch[holds]{
			switches.Fmt(func(h *holds) *switches.Format { return &h.format }),
			{Name: "h", Args: "hold_list", Help: "list of hold types concerned", Take: switches.One,
				Set: func(h *holds, w []string) error {
					if w[0] == "" || strings.Trim(w[0], "uos") != "" {
						return switches.UnknownHolds(w[0])
					}
					h.letters = w[0]
					return nil
				}},
			{Name: "help", Help: "print this help"},
			{Name: "t", Take: switches.One,
				Set: func(h *holds, w []string) error { return switches.RestrictTasks(h.jobs.Refs, w[0]) }},
			{Name: "u", Args: "user_list",
				Help: "specify a list of users\n(not allowed in combination with job_task_list)", Take: switches.One,
				Set: func(h *holds, w []string) error {
					h.jobs.Users = append(h.jobs.Users, switches.Names(w[0])...)
					return nil
				}},
		},
		Operand: func(h *holds, rest []string) (int, error) { return switches.JobWord(&h.jobs.Refs, rest) },
		Legend: switches.JobOperandLegend + "\n" +
			"hold_list               `u' `s' `o'\n" +
			switches.JobTaskListLegend +
			"user_list               user[,user,...]\n",
		Prefix: name + ": ",
		Code:   2,
	}
}

// RunQhold is qhold(1): it sets holds of jobs that are not finished. It returns the exit status.
func RunQhold(env opt.Env, args []string) int {
	return runHolds(env, args, "qhold", func(h *holds) *gdi.Alter { return &gdi.Alter{Jobs: h.jobs, HoldAdd: h.letters} })
}

// RunQrls is qrls(1): it removes holds of jobs that are not finished. It returns the exit status.
func RunQrls(env opt.Env, args []string) int {
	return runHolds(env, args, "qrls", func(h *holds) *gdi.Alter {
		return &gdi.Alter{Jobs: h.jobs, HoldRemove: h.letters}
	})
}

func runHolds(env opt.Env, args []string, name string, change func(*holds) *gdi.Alter) int {
	command := holdCommand(name)
	app := opt.App(env, command, func(ctx context.Context, env opt.Env, h *holds) int {
		if err := switches.CheckJobs(h.jobs); err != nil {
			return opt.Complain(env, command, err)
		}
		replies, code := env.Request(ctx, h.format, name, change(h))
		return holdStatus(replies, code)
	})
	return opt.RunApp(env, app, args)
}

// holdStatus is by what was refused first: 3 a job that does not exist, 10 a hold that
// only operators or managers may touch, 18 a job of another user; else code.
func holdStatus(replies []gdi.Reply, code int) int {
	for _, a := range opt.Answers(replies) {
		switch a.Status {
		case gdi.StatusUnknown:
			return 3
		case gdi.StatusDenied:
			return 10
		case gdi.StatusNotOwner:
			return 18
		}
	}
	return code
}
