package qrdel

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
)

// commandLine is the command line.
type commandLine struct {
	gdi.DeleteARs
	format switches.Format
}

var command = &switches.Command[commandLine]{
	Name: "qrdel", Usage: "[options] wc_ar_list", Indent: 3, Column: 44,
	Switches: []switches.Switch[commandLine]{
		{Name: "f", Help: "force action",
			Set: switches.Flag(func(d *commandLine) *bool { return &d.Force })},
		switches.Fmt(func(d *commandLine) *switches.Format { return &d.format }),
		{Name: "help", Help: "print this help"},
		{Name: "u", Args: "wc_user_list", Help: "all advance reservations of users specified in list", Take: switches.One,
			Set: func(d *commandLine, w []string) error {
				d.Users = append(d.Users, switches.Names(w[0])...)
				return nil
			}},
	},
	Operand: func(d *commandLine, rest []string) (int, error) {
		d.Refs = append(d.Refs, switches.Names(rest[0])...)
		return 1, nil
	},
	Legend: "   wc_ar_list                               delete all advance reservations given in list\n\n" +
		"wc_ar_list              ar[,ar,...]\n" +
		"ar                      ar_id|ar_name|pattern\n" +
		"wc_user_list            user|pattern[,user|pattern,...]\n",
	Prefix: "qrdel: ",
}

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command, remove) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

func remove(ctx context.Context, env opt.Env, d *commandLine) int {
	if len(d.Refs) == 0 && len(d.Users) == 0 {
		return opt.Complain(env, command, switches.ErrNoOperands)
	}
	_, code := env.Request(ctx, d.format, command.Name, &d.DeleteARs)
	return code
}
