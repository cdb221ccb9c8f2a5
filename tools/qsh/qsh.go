package qsh

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/opt"
)

// Run says why there is no qsh; it returns the exit status, 1.
func Run(env opt.Env, _ []string) int {
	fmt.Fprintln(env.Stderr, "qsh: not supported: jobs do not start an xterm on your display; use qlogin or qrsh for an interactive session, or qrsh xterm with DISPLAY in its environment (-v DISPLAY)")
	return 1
}
