package why

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// chosen returns which instances of resource maps and which processor cores a task got that a list has started, and what else was
// looked at: in the state before the list and what it did before.
func chosen(l events.List, t *grid.JATask, before *state.State) (out []string) {
	j := before.Job(t.Job)
	if len(t.Maps)+len(t.Cores) == 0 || j == nil {
		return nil
	}
	st := before.Copy()
	i := slices.IndexFunc(l.Events, func(e events.Event) bool { return e.Kind == grid.KindJATask && e.Key == t.Key() })
	st.Apply(events.List{Seq: st.Seq, At: l.At, Events: l.Events[:max(i, 0)]})
	c := sched.NewCluster(st)
	c.Begin(l.At)
	for _, choice := range c.Choices(j, t) {
		out = append(out, choiceText(choice))
	}
	return out
}

// choiceText is a choice in a line: gpu on h1: GPU1 GPU2 at distance 0; looked at too: GPU0 GPU1 at distance 2.
func choiceText(c sched.Choice) string {
	if c.Resource == "" {
		return fmt.Sprintf("cores on %s: %d of %d units %s that were free: %s", c.Host, c.Units, c.Left, c.Unit, c.Taken.Cores)
	}
	text := fmt.Sprintf("%s on %s: %s", c.Resource, c.Host, lookText(c.Taken))
	switch {
	case len(c.Free) > 0:
		return text + ", the first in the order of the map; free too: " + strings.Join(c.Free, " ")
	case len(c.Others) == 0:
		return text + ", the only choice"
	}
	var others []string
	for _, o := range c.Others {
		others = append(others, lookText(o))
	}
	return text + "; looked at too: " + strings.Join(others, ", ")
}

func lookText(l sched.Look) string {
	text := strings.Join(l.IDs, " ")
	if l.Distance >= 0 {
		text += fmt.Sprintf(" at distance %d", l.Distance)
	}
	if l.Cores != "" {
		text += " with cores " + l.Cores
	}
	return text
}
