package qsh

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/product"
)

const refused = "qsh: not supported: jobs do not start an xterm on your display; use qlogin or qrsh for an interactive session, or qrsh -display for an X program"

// Run returns why there is no qsh; it returns the exit status, 1 but for -help.
func Run(env opt.Env, args []string) int {
	if len(args) == 1 && args[0] == "-help" {
		fmt.Fprintf(env.Stdout, "%s\nusage: qsh\n   [-help]    print this help\n\n%s\n", product.Banner(), refused)
		return 0
	}
	fmt.Fprintln(env.Stderr, refused)
	return 1
}
