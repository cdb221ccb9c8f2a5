package reservation

import (
	"context"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
)

// deletion is the command line of qrdel.
type deletion struct {
	gdi.DeleteARs
	format switches.Format
}

var deleteCommand = &switches.Command[deletion]{
	Name: "qrdel", Usage: "[options] wc_ar_list", Indent: 3, Column: 44,
	Switches: []switches.Switch[deletion]{
		{Name: "f", Help: "force action",
			Set: switches.Flag(func(d *deletion) *bool { return &d.Force })},
		switches.Fmt(func(d *deletion) *switches.Format { return &d.format }),
		{Name: "help", Help: "print this help"},
		{Name: "u", Args: "wc_user_list", Help: "all advance reservations of users specified in list", Take: switches.One,
			Set: func(d *deletion, w []string) error {
				d.Users = append(d.Users, switches.Names(w[0])...)
				return nil
			}},
	},
	Operand: func(d *deletion, rest []string) (int, error) {
		d.Refs = append(d.Refs, switches.Names(rest[0])...)
		return 1, nil
	},
	Legend: "   wc_ar_list                               delete all advance reservations given in list\n\n" +
		"wc_ar_list              ar[,ar,...]\n" +
		"ar                      ar_id|ar_name|pattern\n" +
		"wc_user_list            user|pattern[,user|pattern,...]\n",
	Prefix: "qrdel: ",
}

// RunQrdel is qrdel(1): it deletes advance reservations and their jobs. It returns the exit status.
func RunQrdel(env opt.Env, args []string) int {
	return opt.RunApp(env, opt.App(env, deleteCommand, deleteReservations), args)
}

func deleteReservations(ctx context.Context, env opt.Env, d *deletion) int {
	if len(d.Refs) == 0 && len(d.Users) == 0 {
		return opt.Complain(env, deleteCommand, switches.ErrNoOperands)
	}
	_, code := env.Request(ctx, d.format, deleteCommand.Name, &d.DeleteARs)
	return code
}
