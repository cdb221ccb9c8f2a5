package qrsub

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/submit"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/userdb"
)

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, submit.Qrsub(env.Now), reserve) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

func reserve(ctx context.Context, env opt.Env, said *submit.Booking) int {
	c := submit.Qrsub(env.Now)
	if len(said.Line) == 0 {
		return opt.Complain(env, c, switches.ErrNoOperands)
	}
	// The command line wins over the files, so it is read after them.
	w := &submit.Booking{AR: new(grid.AR), Now: said.Now}
	if err := opt.ParseAll(env, c, w, "sge_ar_request", said.Line); err != nil {
		return opt.Complain(env, c, err)
	}
	env = env.In(w.Format)
	for _, u := range w.ACL {
		if _, err := userdb.Lookup(u); !strings.HasPrefix(u, "@") && err != nil {
			return env.Report(gdi.Refuse(gdi.StatusUnknown, "error: "+u+" is not known as a user"), 1)
		}
	}
	_, code := env.Request(ctx, w.Format, c.Name, &gdi.Reserve{AR: w.AR})
	return code
}
