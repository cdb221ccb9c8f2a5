package qhold

import (
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/switches"
)

// commandLine is the command line.
type commandLine struct {
	jobs    gdi.Jobs
	letters string // of u o s
	format  switches.Format
}

// newCommand is the language of qhold(1) and qrls(1): user holds unless -h
// says otherwise.
func newCommand(name string) *switches.Command[commandLine] {
	return &switches.Command[commandLine]{
		Name:   name,
		Usage:  "[options] job_task_list",
		Indent: 3,
		Column: 44,
		New:    func([]string) *commandLine { return &commandLine{letters: "u"} },
		Switches: []switches.Switch[commandLine]{
			switches.Fmt(func(h *commandLine) *switches.Format { return &h.format }),
			{Name: "h", Args: "hold_list", Help: "list of hold types concerned", Take: switches.One,
				Set: func(h *commandLine, w []string) error {
					if w[0] == "" || strings.Trim(w[0], "uos") != "" {
						return switches.UnknownHolds(w[0])
					}
					h.letters = w[0]
					return nil
				}},
			{Name: "help", Help: "print this help"},
			{Name: "t", Take: switches.One,
				Set: func(h *commandLine, w []string) error { return switches.RestrictTasks(h.jobs.Refs, w[0]) }},
			{Name: "u", Args: "user_list",
				Help: "specify a list of users\n(not allowed in combination with job_task_list)", Take: switches.One,
				Set: func(h *commandLine, w []string) error {
					h.jobs.Users = append(h.jobs.Users, switches.Names(w[0])...)
					return nil
				}},
		},
		Operand: func(h *commandLine, rest []string) (int, error) { return switches.JobWord(&h.jobs.Refs, rest) },
		Legend: switches.JobOperandLegend + "\n" +
			"hold_list               `u' `s' `o'\n" +
			switches.JobTaskListLegend +
			"user_list               user[,user,...]\n",
		Prefix: name + ": ",
		Code:   2,
	}
}
