package qrsh

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/product"
)

const noQsh = "qsh: not supported: jobs do not start an xterm on your display; use qlogin or qrsh for an interactive session, or qrsh -display for an X program"

// RunQsh refuses qsh of submit(1), an xterm started by a job on the display of the user, with what to use instead. It
// returns the exit status, 1 but for -help.
func RunQsh(env opt.Env, args []string) int {
	if len(args) == 1 && (args[0] == "-help" || args[0] == "--help") {
		fmt.Fprintf(env.Stdout, "%s\nusage: qsh\n   [-help]    print this help\n\n%s\n", product.Banner(), noQsh)
		return 0
	}
	fmt.Fprintln(env.Stderr, noQsh)
	return 1
}
