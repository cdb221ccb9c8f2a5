package schedd

import (
	"slices"

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
