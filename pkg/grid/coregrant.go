package grid

import (
	"slices"
	"strings"
)

// CoreGrant is the processor cores or threads that a task has on one of its hosts, granted by qmaster
// when the task started.
type CoreGrant struct {
	Host string `see:"keep"`
	Text string `see:"keep"` // the topology of the host, what the task has in lower case: NSxycttXYCTT
	// Shared: they follow from the masks of its instances alone. It is bound to them, and others may be
	// too.
	Shared bool
}

// String returns the grant as qstat -j prints it: node1=NSxycttXYCTT.
func (g CoreGrant) String() string { return g.Host + "=" + g.Text }

// CoresText joins grants with commas; it is empty when there are none.
func CoresText(cores []CoreGrant) string {
	words := make([]string, len(cores))
	for i, g := range cores {
		words[i] = g.String()
	}
	return strings.Join(words, ",")
}

// CoresOn returns what grants have on a host, "" when it is nothing.
func CoresOn(cores []CoreGrant, host string) string {
	if i := slices.IndexFunc(cores, func(g CoreGrant) bool { return g.Host == host }); i >= 0 {
		return cores[i].Text
	}
	return ""
}
