package schedd

import (
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/schedd/algorithm/ticket"
)

// algorithms are the names that sched_conf(5) `algorithm` may take.
var algorithms = []algorithm.Entry{
	ticket.Entry,
}

// entryOf returns the algorithm of a name; the empty name is the first.
func entryOf(name string) (algorithm.Entry, bool) {
	if name == "" {
		return algorithms[0], true
	}
	for _, e := range algorithms {
		if e.Name == name {
			return e, true
		}
	}
	return algorithm.Entry{}, false
}
