package submit

import (
	"os"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
)

// aliasedDir is the working directory under the name that it has on the execution
// hosts, sge_aliases(5): what the cell's file says, then the user's, line by
// line. A line that means one execution host cannot be followed before the job
// has one, and is refused.
func (s *Submission) aliasedDir(dir string) (string, error) {
	for _, path := range s.origin.defaultFiles("sge_aliases") {
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) == 0 || line[0] == '#' {
				continue
			}
			if len(f) != 4 {
				return "", switches.Errorf("invalid syntax of path alias file %q", path)
			}
			from, submit, execution, to := f[0], f[1], f[2], f[3]
			rest, ok := strings.CutPrefix(dir, from)
			if !ok || submit != "*" && !grid.SameHost(submit, s.origin.Host) {
				continue
			}
			if execution != "*" {
				return "", switches.Errorf("path alias file %q: an alias on the execution host %s only is not supported, * is",
					path, execution)
			}
			dir = to + rest
		}
	}
	return dir, nil
}
