package view

import (
	"strings"

	"github.com/quill-grid/quill/pkg/state"
)

// Members returns the hosts of a host group and of the groups in it, in the order
// in which they are listed, each once.
func Members(st *state.State, group string) (out []string) {
	seen := map[string]bool{}
	var walk func(string)
	walk = func(name string) {
		g := st.HGroup(name)
		if g == nil || seen[name] {
			return
		}
		seen[name] = true
		for _, h := range g.HostList {
			if strings.HasPrefix(h, "@") {
				walk(h)
			} else if !seen[h] {
				seen[h] = true
				out = append(out, h)
			}
		}
	}
	walk(group)
	return out
}
