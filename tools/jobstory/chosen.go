package jobstory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/pkg/state"
)

// chosen returns which instances of resource maps and which processor cores a task got that a list has started, and
// what else was looked at: in the state before the list and what it did before.
func chosen(l events.List, t *grid.JATask, before *state.State) (out []string) {
	j := before.Job(t.Job)
	if len(t.Maps)+len(t.Cores) == 0 || j == nil {
		return nil
	}
	st := before.Copy()
	i := slices.IndexFunc(l.Events, func(e events.Event) bool { return e.Kind == grid.KindJATask && e.Key == t.Key() })
	st.Apply(events.List{Seq: st.Seq, At: l.At, Events: l.Events[:max(i, 0)]})
	c := sched.NewCluster(around(st, j, t))
	c.Begin(l.At)
	for _, choice := range c.Choices(j, t) {
		out = append(out, choiceText(choice))
	}
	return out
}

// around returns the part of a state that sched.Choices looks at for a task of a job: what is configured for all hosts,
// the hosts of the task and of advance reservations, which may have been promised instances of all of them, and what
// holds something there. So its cost does not depend on how many hosts and jobs there are besides.
func around(st *state.State, j *grid.Job, t *grid.JATask) *state.State {
	l := events.List{At: st.At}
	add := func(o grid.Object) bool {
		l.Events = append(l.Events, events.Listed(o))
		return true
	}
	for _, k := range []grid.Kind{grid.KindConf, grid.KindSchedConf, grid.KindCentry, grid.KindPE, grid.KindInstance,
		grid.KindCQueue, grid.KindAR} {
		st.Each(k, add)
	}
	add(j)
	places, seen := []string{grid.GlobalHost}, map[grid.Key]bool{j.Key(): true}
	for _, a := range st.ARs() {
		places = append(places, grantHosts(a.Grants)...)
	}
	places = append(places, grantHosts(t.Grants)...)
	slices.Sort(places)
	for _, h := range slices.Compact(places) {
		if o := st.ExecHost(h); o != nil {
			add(o)
		}
		if o := st.Load(h); o != nil {
			add(o)
		}
		for _, q := range st.CQueues() {
			if o := st.QInstance(q.Name, h); o != nil {
				add(o)
			}
		}
		st.EachOnHost(h, func(t *grid.JATask) {
			if o := st.Job(t.Job); o != nil && !seen[o.Key()] {
				seen[o.Key()] = true
				add(o)
			}
			if !seen[t.Key()] {
				seen[t.Key()] = true
				add(t)
			}
		})
	}
	part := state.New()
	part.Apply(l)
	return part
}

func grantHosts(grants []grid.Grant) (hosts []string) {
	for _, g := range grants {
		hosts = append(hosts, g.Host)
	}
	return hosts
}

// choiceText is a choice in a line: gpu on h1: GPU1 GPU2 at distance 0; looked at too: GPU0 GPU1 at distance 2.
func choiceText(c sched.Choice) string {
	if c.Resource == "" {
		return fmt.Sprintf("cores on %s: %d of %d units %s that were free: %s", c.Host, c.Units, c.Left,
			c.Unit, c.Taken.Cores)
	}
	text := fmt.Sprintf("%s on %s: %s", c.Resource, c.Host, lookText(c.Taken))
	switch {
	case len(c.Free) > 0:
		return text + ", the first in the order of the map; free too: " + someOf(c.Free, " ")
	case len(c.Others) == 0:
		return text + ", the only choice"
	}
	var others []string
	for _, o := range c.Others {
		others = append(others, lookText(o))
	}
	return text + "; looked at too: " + someOf(others, ", ")
}

// othersMost is how many of the instances or choices that were there too are named.
const othersMost = 20

func someOf(words []string, sep string) string {
	if n := len(words) - othersMost; n > 0 {
		return strings.Join(words[:othersMost], sep) + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(words, sep)
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
