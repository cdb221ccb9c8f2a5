package opt

import (
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/switches"
)

// Holds is the request of qhold and qrls.
type Holds struct {
	Jobs    gdi.Jobs
	Letters string // of u o s
	Format  switches.Format
}

// HoldCommand is the language of qhold(1) and qrls(1): user holds unless -h
// says otherwise.
func HoldCommand(name string) *switches.Command[Holds] {
	return &switches.Command[Holds]{
		Name:   name,
		Usage:  "[options] job_task_list",
		Indent: 3,
		Column: 44,
		New:    func([]string) *Holds { return &Holds{Letters: "u"} },
		Switches: []switches.Switch[Holds]{
			switches.Fmt(func(h *Holds) *switches.Format { return &h.Format }),
			{Name: "h", Args: "hold_list", Help: "list of hold types concerned", Take: switches.One,
				Set: func(h *Holds, w []string) error {
					if w[0] == "" || strings.Trim(w[0], "uos") != "" {
						return switches.UnknownHolds(w[0])
					}
					h.Letters = w[0]
					return nil
				}},
			{Name: "help", Help: "print this help"},
			{Name: "t", Take: switches.One,
				Set: func(h *Holds, w []string) error { return switches.RestrictTasks(h.Jobs.Refs, w[0]) }},
			{Name: "u", Args: "user_list", Help: "specify a list of users\n(not allowed in combination with job_task_list)",
				Take: switches.One,
				Set: func(h *Holds, w []string) error {
					h.Jobs.Users = append(h.Jobs.Users, switches.Names(w[0])...)
					return nil
				}},
		},
		Operand: func(h *Holds, rest []string) (int, error) { return switches.JobWord(&h.Jobs.Refs, rest) },
		Legend: switches.JobOperandLegend + "\n" +
			"hold_list               `u' `s' `o'\n" +
			switches.JobTaskListLegend +
			"user_list               user[,user,...]\n",
		Prefix: name + ": ",
		Code:   2,
	}
}
