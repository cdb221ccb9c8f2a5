package reservation

import (
	"context"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/submit"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/userdb"
)

// RunQrsub is qrsub(1): it makes an advance reservation. It returns the exit status.
func RunQrsub(env opt.Env, args []string) int {
	return opt.RunApp(env, opt.App(env, submit.Qrsub(env.Now), reserve), args)
}

func reserve(ctx context.Context, env opt.Env, w *submit.Booking) int {
	if len(w.Line) == 0 {
		return opt.Complain(env, submit.Qrsub(env.Now), switches.ErrNoOperands)
	}
	for _, u := range w.ACL {
		if _, err := userdb.Lookup(u); !strings.HasPrefix(u, "@") && err != nil {
			return env.Report(gdi.Refuse(gdi.StatusUnknown, "error: "+u+" is not known as a user"), 1)
		}
	}
	_, code := env.Request(ctx, w.Format, "qrsub", &gdi.Reserve{AR: w.AR})
	return code
}
