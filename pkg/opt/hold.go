package opt

import (
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
)

// Holds is what qhold and qrls are told.
type Holds struct {
	Jobs    gdi.Jobs
	Letters string // of u o s
}

// HoldCommand is the language of qhold(1) and qrls(1): user holds unless -h
// says otherwise.
func HoldCommand(name string) *Command[Holds] {
	return &Command[Holds]{
		Name:   name,
		Usage:  "[options] job_task_list",
		Indent: 3,
		Column: 44,
		New:    func(Env, []string) *Holds { return &Holds{Letters: "u"} },
		Switches: []Switch[Holds]{
			{Name: "h", Args: "hold_list", Help: "list of hold types concerned", Take: One,
				Set: func(h *Holds, w []string) error {
					if w[0] == "" || strings.Trim(w[0], "uos") != "" {
						return UnknownHolds(w[0])
					}
					h.Letters = w[0]
					return nil
				}},
			{Name: "help", Help: "print this help"},
			{Name: "t", Take: One,
				Set: func(h *Holds, w []string) error { return RestrictTasks(h.Jobs.Refs, w[0]) }},
			{Name: "u", Args: "user_list", Help: "specify a list of users\n(not allowed in combination with job_task_list)", Take: One,
				Set: func(h *Holds, w []string) error { h.Jobs.Users = append(h.Jobs.Users, Names(w[0])...); return nil }},
		},
		Operand: func(h *Holds, rest []string) (int, error) { return JobWord(&h.Jobs.Refs, rest) },
		Legend: jobOperandLegend + "\n" +
			"hold_list               `u' `s' `o'\n" +
			JobTaskListLegend +
			"user_list               user[,user,...]\n",
		Prefix: name + ": ",
		Code:   2,
	}
}

// UnknownHolds refuses a hold_list.
func UnknownHolds(text string) error {
	return Invalidf("Unknown hold list %q specified to -h option", text)
}

// CheckJobs refuses a command line that names no jobs, or both jobs and users.
func CheckJobs(jobs gdi.Jobs) error {
	switch {
	case len(jobs.Refs) == 0 && len(jobs.Users) == 0:
		return &Error{Help: true, Code: 1}
	case len(jobs.Refs) > 0 && len(jobs.Users) > 0:
		return Errorf("-u option is not allowed in combination with a job_task_list")
	}
	return nil
}
