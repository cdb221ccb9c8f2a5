package jobs

import (
	"context"
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
)

var resubmitCommand = &switches.Command[holds]{
	Name:   "qresub",
	Usage:  "[options] job_id_list",
	Indent: 3,
	Column: 44,
	Switches: []switches.Switch[holds]{
		switches.Fmt(func(h *holds) *switches.Format { return &h.format }),
		{Name: "h", Args: "hold_list", Help: "list of hold types that the new jobs have", Take: switches.One,
			Set: func(h *holds, w []string) error {
				if w[0] == "" || strings.Trim(w[0], "nuosUOS") != "" {
					return switches.UnknownHolds(w[0])
				}
				h.letters = w[0]
				return nil
			}},
		{Name: "help", Help: "print this help"},
	},
	Operand: func(h *holds, rest []string) (int, error) { return switches.JobWord(&h.jobs.Refs, rest) },
	Unknown: func(word string) error {
		return &switches.Error{Text: "Unknown option " + word, Code: 5}
	},
	Legend: "   job_id_list                              jobs that are to be submitted once more\n\n" +
		"hold_list               `n' `u' `s' `o' `U' `S' `O'\n" +
		"job_id_list             job_id[,job_id,...]\n",
	Prefix: "qresub: ",
	Code:   2,
}

// RunQresub is qresub of submit(1): it submits jobs that are pending or run once more, as they were submitted. It
// returns the exit status. 8.1.9 says with -h that it has modified a hold of the job that is copied, which it has not;
// this says nothing of it.
func RunQresub(env opt.Env, args []string) int {
	return opt.RunApp(env, opt.App(env, resubmitCommand, resubmitJobs), args)
}

// refused is Grid Engine's exit status for a job that cannot be resubmitted.
const refused = 4

func resubmitJobs(ctx context.Context, env opt.Env, h *holds) int {
	if len(h.jobs.Refs) == 0 {
		return opt.Complain(env, resubmitCommand, switches.ErrNoOperands)
	}
	for _, ref := range h.jobs.Refs {
		switch {
		case ref.Name != "":
			none := gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("job %q does not exist", ref.Name)).On(
				gdi.Subject{Kind: grid.KindJob, Name: ref.Name})
			return opt.Complain(env, resubmitCommand,
				&switches.Error{Text: none.Text, Code: refused, Cause: &gdi.Refusal{Answer: none}})
		case len(ref.Tasks) > 0:
			tasks := gdi.Deny(gdi.StatusInvalid, "denied: the selected option works only on jobs and not on tasks").On(
				gdi.Subject{Job: ref.ID})
			return opt.Complain(env, resubmitCommand,
				&switches.Error{Text: tasks.Text, Code: refused, Cause: &gdi.Refusal{Answer: tasks}})
		}
	}
	c, err := env.Connect(ctx)
	if err == nil {
		defer c.Close()
	}
	var replies []gdi.Reply
	code, hold := 0, strings.Map(dropReleases, h.letters)
	for _, ref := range h.jobs.Refs {
		var reply gdi.Reply
		if err == nil {
			reply, err = c.Do(ctx, resubmitCommand.Name, &gdi.Resubmit{Job: ref.ID, Hold: hold})
		}
		if err != nil {
			break
		}
		replies = append(replies, reply)
		if !h.format.JSON() {
			env.PrintErrors(reply.Answers)
		}
		if !reply.OK() {
			code = refused
			if limit := opt.RefusedCode(reply); limit != 1 {
				code = limit
			}
		}
	}
	switch {
	case h.format.JSON():
		if failed := env.Results(err, replies...); err != nil {
			return failed
		}
	case err != nil:
		return env.Report(err, 1)
	}
	return code
}

// dropReleases maps a letter of a hold_list to itself where it sets a hold, to -1 where it removes one: a new job has
// none.
func dropReleases(letter rune) rune {
	if strings.ContainsRune("uos", letter) {
		return letter
	}
	return -1
}
