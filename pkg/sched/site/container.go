package site

import (
	"strings"

	"github.com/quill-grid/quill/pkg/complex"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// offerContainers makes the patterns of the container starters of a host, sge_conf(5), its value of the attribute by
// which jobs ask for an image, unless complex_values have one.
func (l *Layout) offerContainers(st *state.State, h *Host) {
	i := l.Complex.Find(grid.ContainerRequest)
	if i < 0 || l.Complex.List[i].Name != grid.ContainerRequest || l.Complex.List[i].Numeric ||
		l.Complex.List[i].Column >= 0 {
		return
	}
	if _, set := h.Supply.Fixed[i]; set {
		return
	}
	text := ""
	for _, name := range [...]string{grid.GlobalConf, h.Name} {
		if conf := st.Conf(name); conf != nil {
			if own, set := conf.Entries.Get(grid.Starters); set {
				text = own
			}
		}
	}
	starters, _ := grid.ParseStarters(text) // it was checked when it was set
	var patterns []string
	for _, s := range starters {
		patterns = append(patterns, s.Pattern)
	}
	if len(patterns) > 0 {
		h.Supply.Fixed[i] = complex.Value{Text: strings.Join(patterns, " "), Patterns: patterns}
	}
}
