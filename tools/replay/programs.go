package replay

import (
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/ge/qacct"
	"github.com/quill-grid/quill/tools/ge/qconf"
	"github.com/quill-grid/quill/tools/ge/qstat"
	"github.com/quill-grid/quill/tools/ge/qsub"
	"github.com/quill-grid/quill/tools/ge/reservation"
	"github.com/quill-grid/quill/tools/ge/resources"
)

// programs are the commands that show something. They run unchanged: only
// the source of the answers, and the current time, are replaced. qsub and
// qrsub are among them for -w v and -w p: could it have been placed then?
var programs = map[string]func(env opt.Env, args []string) int{
	"qacct":   qacct.Run,
	"qconf":   qconf.Run,
	"qhost":   resources.RunQhost,
	"qquota":  resources.RunQquota,
	"qrstat":  reservation.RunQrstat,
	"qrsub":   reservation.RunQrsub,
	"qselect": qstat.RunQselect,
	"qstat":   qstat.Run,
	"qsub":    qsub.Run,

	// The past stays as it was: once is enough.
	"sge_share_mon": func(env opt.Env, args []string) int {
		return resources.RunShareMon(env, append([]string{"-c", "1"}, args...))
	},
}
