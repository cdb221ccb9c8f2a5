package shepherd

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
)

// ulimits are the options of sh(1) ulimit and their units, in bytes where a resource is measured in them. A second
// option is what another shell calls the same.
var ulimits = [...]struct {
	options  []string
	unit     uint64
	resource int
}{
	plan.CPU: {[]string{"-t"}, 1, unix.RLIMIT_CPU}, plan.FSize: {[]string{"-f"}, 512, unix.RLIMIT_FSIZE},
	plan.Data: {[]string{"-d"}, 1024, unix.RLIMIT_DATA}, plan.Stack: {[]string{"-s"}, 1024, unix.RLIMIT_STACK},
	plan.Core: {[]string{"-c"}, 512, unix.RLIMIT_CORE}, plan.RSS: {[]string{"-m"}, 1024, unix.RLIMIT_RSS},
	plan.VMem: {[]string{"-v"}, 1024, unix.RLIMIT_AS}, plan.NoFile: {[]string{"-n"}, 1, unix.RLIMIT_NOFILE},
	plan.NProc: {[]string{"-u", "-p"}, 1, unix.RLIMIT_NPROC}, plan.MemLock: {[]string{"-l"}, 1024, unix.RLIMIT_MEMLOCK},
	plan.Locks: {[]string{"-x", "-w"}, 1, unix.RLIMIT_LOCKS},
}

// ulimitScript returns the beginning of a shell script that sets the limits. A hard limit above the shepherd's own is
// cut to that.
func ulimitScript(limits []plan.Rlimit) string {
	var script strings.Builder
	for _, l := range limits {
		u := ulimits[l.Resource]
		var own unix.Rlimit
		unix.Getrlimit(u.resource, &own)
		hard := min(l.Hard, own.Max)
		soft := min(l.Soft, hard)
		for i, option := range u.options {
			fmt.Fprintf(&script, "{ ulimit %s %s && ulimit -S %s %s; } ", option, formatLimit(hard, u.unit), option,
				formatLimit(soft, u.unit))
			if i < len(u.options)-1 {
				script.WriteString("2>/dev/null || ")
			}
		}
		script.WriteString("&& ")
	}
	return script.String()
}

func formatLimit(n, unit uint64) string {
	if n == plan.Infinity {
		return "unlimited"
	}
	return strconv.FormatUint(n/unit, 10)
}
