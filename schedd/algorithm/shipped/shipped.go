package shipped

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/fbsng"
	"github.com/quill-grid/quill/schedd/algorithm/gridserver"
	"github.com/quill-grid/quill/schedd/algorithm/roundrobin"
	"github.com/quill-grid/quill/schedd/algorithm/scoot"
	"github.com/quill-grid/quill/schedd/algorithm/ticket"
)

// algorithms are the names that sched_conf(5) `algorithm` may take; the first
// is in use until one is configured.
var algorithms = []algorithm.Entry{
	ticket.Entry,
	fbsng.Entry,
	gridserver.Entry,
	scoot.Entry,
	roundrobin.Entry,
}

// Algorithms is the table.
func Algorithms() []algorithm.Entry { return slices.Clone(algorithms) }

// Named returns the names that a command line gives, all of them for "all". It
// fails for an unknown name.
func Named(names []string) (out []string, err error) {
	var known []string
	for _, e := range algorithms {
		known = append(known, e.Name)
	}
	for _, name := range names {
		switch {
		case name == "all":
			out = append(out, known...)
		case slices.Contains(known, name):
			out = append(out, name)
		default:
			return nil, fmt.Errorf("--algorithm %q: known are all, %s", name, strings.Join(known, ", "))
		}
	}
	return out, nil
}
