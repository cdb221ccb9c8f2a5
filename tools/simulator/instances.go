package simulator

import (
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// Where Parameters.Instances says so there are resource maps: gpu, per slot, of which some
// hosts have instances of their own and the others those of the cluster, and port, per job. Some requests
// select by characteristics, and the instances of h1 are near processors. The consumable lic is taken once per host.
// The administrator changes the maps while jobs have the instances, takes instances out of service and
// has them back; sensors report that some do not work.

// mapValues are values that a host may have, or "global": the first is what there is in the end.
var mapValues = map[string][]string{
	"h1": {
		"lic=2,gpu=4(0[model=a,gmem=40G,numa=1] 1[model=b,gmem=16G,numa=0] shared[model=b,gmem=40G,numa=1] shared[model=b,gmem=40G,numa=1])",
		"lic=2,gpu=2(1:sccSCC[model=b,gmem=16G] 0:SCCscc[model=a,gmem=40G])",
		"lic=2,gpu=3(shared[model=b,gmem=40G] 1[model=b,gmem=16G] 2)", "lic=2",
	},
	"h3":            {"gpu=2(0[model=a,gmem=16G] 1)", "gpu=2(0-1)", "gpu=0", "NONE"},
	grid.GlobalHost: {"lic=3,gpu=3(a[gmem=80G,model=a] b c),port=2(1-2)", "lic=3,gpu=1(b),port=3(2-4)", "lic=3,port=1(1)"},
}

// selections are characteristics that jobs ask for, and whether an instance has them. h1 has two
// of each in the end, or one and the job asks for no more.
var selections = map[string]func(model string, gmem int) bool{
	"[model=a]":            func(model string, _ int) bool { return model == "a" },
	"[gmem>=32G]":          func(_ string, gmem int) bool { return gmem >= 32 },
	"[model=b*]":           func(model string, _ int) bool { return model == "b" },
	"[model!=a,gmem<=16G]": func(model string, gmem int) bool { return model == "b" && gmem <= 16 },
	"[gmem=20G,model=a|b]": func(_ string, gmem int) bool { return gmem >= 20 },
}

// requestsOfGPUs are the amounts and selections of requests.
var requestsOfGPUs = [...]string{"1", "1", "2", "1[model=a]", "1[gmem>=32G]", "2[model=b*]", "1[model!=a,gmem<=16G]",
	"1[gmem=20G,model=a|b]", "2[gmem>=32G]"}

// addInstances are the objects of such a cell.
func (w *World) addInstances(l events.List) events.List {
	if !w.Instances {
		return l
	}
	complexOf := func(name, consumable string) events.Event {
		return events.Add(&grid.Centry{Name: name, Shortcut: name, Type: grid.TypeMap, Relop: "<=", Requestable: "YES",
			Consumable: consumable, Default: "0", Urgency: "0"})
	}
	l.Events = append(l.Events, complexOf("gpu", "YES"), complexOf("port", "JOB"),
		events.Add(&grid.Centry{Name: "model", Shortcut: "model", Type: "STRING", Relop: "==", Requestable: "YES",
			Consumable: "NO", Default: "NONE", Urgency: "0"}),
		events.Add(&grid.Centry{Name: "gmem", Shortcut: "gmem", Type: "MEMORY", Relop: "<=", Requestable: "YES",
			Consumable: "NO", Default: "0", Urgency: "0"}),
		events.Add(&grid.Centry{Name: "numa", Shortcut: "numa", Type: "INT", Relop: "==", Requestable: "NO", Consumable: "NO",
			Default: "0", Urgency: "0"}),
		events.Add(&grid.Centry{Name: "lic", Shortcut: "lic", Type: "INT", Relop: "<=", Requestable: "YES",
			Consumable: "HOST", Default: "0", Urgency: "0"}))
	return l
}

// instanceRequest is a request of the administrator about instances.
func (c *clients) instanceRequest() gdi.Body {
	w := c.world
	host := [...]string{"h1", "h3", grid.GlobalHost}[w.rand.IntN(3)]
	if w.hasChance(0.3) {
		values := mapValues[host]
		if b := c.setMap(host, values[w.rand.IntN(len(values))]); b != nil {
			return b
		}
	}
	ids := [...]string{"gpu:0@h1", "gpu:shared@h1", "gpu:1@h3", "gpu:b@global", "port:2@global"}
	return &gdi.Control{Action: [...]string{"disable", "disable", "enable", "clear"}[w.rand.IntN(4)], Queues: true,
		Refs: ids[w.rand.IntN(len(ids)):][:1]}
}

// ofInstances reports whether a request is such a one: others than the administrator are refused.
func ofInstances(b gdi.Body) bool {
	if k, ok := b.(*gdi.Control); ok {
		return k.Queues && len(k.Refs) == 1 && strings.Contains(k.Refs[0], ":")
	}
	m, ok := b.(*gdi.Modify)
	return ok && m.Objects[0].Kind() == grid.KindExecHost
}

// setMap sets the resource maps of a host; it is nil while there is no such host.
func (c *clients) setMap(host, values string) gdi.Body {
	old := c.world.master.sure.ExecHost(host)
	if old == nil {
		return nil
	}
	h := *old
	h.ComplexValues, h.Version = nil, 0
	for _, v := range grid.CutOutside(values, func(r rune) bool { return r == ',' }) {
		if name, text, set := strings.Cut(v, "="); set {
			h.ComplexValues = append(h.ComplexValues, grid.Value{Name: name, Text: text})
		}
	}
	return &gdi.Modify{Objects: []grid.Object{&h}}
}

// mapRequests are what a job asks for.
func (c *clients) mapRequests() (hard grid.Requests) {
	w := c.world
	if w.hasChance(0.5) {
		hard = append(hard, grid.Request{Name: "gpu", Value: requestsOfGPUs[w.rand.IntN(len(requestsOfGPUs))]})
	}
	if w.hasChance(0.2) {
		hard = append(hard, grid.Request{Name: "port", Value: "1"})
	}
	if w.hasChance(0.2) {
		hard = append(hard, grid.Request{Name: "lic", Value: "1"})
	}
	return hard
}

// scopeGPUs has a parallel job ask for its GPUs for the master task, for the others, or for both.
func (c *clients) scopeGPUs(j *grid.Job) {
	i := slices.IndexFunc(j.Hard, func(r grid.Request) bool { return r.Name == "gpu" })
	if j.PE == "" || i < 0 || c.world.hasChance(0.2) {
		return
	}
	of := grid.Requests{j.Hard[i]}
	j.Hard = slices.Delete(j.Hard, i, i+1)
	to := c.world.rand.IntN(3)
	if to != 0 {
		j.MasterHard = of
	}
	if to != 1 {
		j.SlaveHard = of
	}
}

// healInstances lets every instance be there and in service.
func (c *clients) healInstances(id string) {
	if !c.world.Instances {
		return
	}
	for _, host := range [...]string{"h1", "h3", grid.GlobalHost} {
		if b := c.setMap(host, mapValues[host][0]); b != nil {
			c.sendRequest(b, id+"m"+host)
		}
	}
	for _, o := range c.world.objectsOf(grid.KindInstance) {
		name := o.Key().Name
		c.sendRequest(&gdi.Control{Action: "enable", Queues: true, Refs: []string{name}}, id+"e"+name)
		c.sendRequest(&gdi.Control{Action: "clear", Queues: true, Refs: []string{name}}, id+"c"+name)
	}
}

// objectsOf are all of a kind that the log has.
func (w *World) objectsOf(k grid.Kind) (all []grid.Object) {
	w.master.sure.Each(k, func(o grid.Object) bool {
		all = append(all, o)
		return true
	})
	return all
}

// addSensed adds to a host's load its processors and what a sensor says of its instances.
func (h *host) addSensed(values grid.Values) grid.Values {
	if h.world.Instances {
		values = append(values, grid.Value{Name: "m_topology_tree", Text: processors})
	}
	if h.world.Instances && !h.world.calm && h.world.hasChance(0.2) {
		values = append(
			values, grid.Value{Name: "gpu.1.state", Text: [...]string{"E it fell off the bus", "OK"}[h.world.rand.IntN(2)]})
	}
	return values
}

// notGrantedTwice holds the instances of a task that starts against all that others have, and against
// the map that must have given them: no instance is held more often than it is listed, none is out of
// service, each has the characteristics that the task asks for, and the task has as many as it asked for.
func (w *World) notGrantedTwice(t *grid.JATask) {
	s := w.master.sure
	j := s.Job(t.Job)
	if !w.Instances || j == nil {
		return
	}
	if len(t.Maps) > 0 {
		w.mapped++
	}
	w.perHost(t, j)
	for _, r := range j.Hard {
		of := s.Centry(r.Name)
		if of.Type != grid.TypeMap {
			continue
		}
		w.asSelected(t, r)
		for i, g := range t.Grants {
			asked, perJob := int(r.Num), of.Consumable == "JOB"
			if perJob && i > 0 {
				asked = 0
			} else if !perJob {
				asked *= int(g.Slots)
			}
			w.instancesOn(t, g.Host, r.Name, asked)
		}
	}
	w.scopesHold(t, j)
}

// scopesHold holds the instances of a task against what its job asks for in the scope of the master task, which is
// in the first slot of the first grant, and of the others.
func (w *World) scopesHold(t *grid.JATask, j *grid.Job) {
	for _, r := range slices.Concat(j.MasterHard, j.SlaveHard) {
		w.scoped++
		w.asSelected(t, r)
		master, _ := j.MasterHard.Get(r.Name)
		slave, _ := j.SlaveHard.Get(r.Name)
		for i, g := range t.Grants {
			asked := int(slave.Num) * int(g.Slots)
			if i == 0 {
				asked += int(master.Num) - int(slave.Num)
			}
			w.instancesOn(t, g.Host, r.Name, asked)
		}
	}
}

// asSelected holds the instances that a task has of a resource against the characteristics of its request.
func (w *World) asSelected(t *grid.JATask, r grid.Request) {
	at := strings.IndexByte(r.Value, '[')
	if at < 0 {
		return
	}
	w.selected++
	has := selections[r.Value[at:]]
	for _, m := range t.Maps {
		if m.Resource != r.Name {
			continue
		}
		place := m.Host
		if m.Global {
			place = grid.GlobalHost
		}
		for _, id := range m.IDs {
			if model, gmem := w.traitsOf(place, m.Resource, id); has == nil || !has(model, gmem) {
				w.fail("%d.%d starts with %s:%s@%s, which does not have %s", t.Job, t.ID, m.Resource, id, place, r.Value[at:])
			}
		}
	}
}

// traitsOf are the characteristics of an instance, "" and -1 where it has none.
func (w *World) traitsOf(host, resource, id string) (model string, gmem int) {
	text, _ := w.master.sure.ExecHost(host).ComplexValues.Get(resource)
	_, text, _ = strings.Cut(strings.TrimSuffix(text, ")"), "(")
	gmem = -1
	for _, word := range strings.Fields(text) {
		name, block, _ := strings.Cut(strings.TrimSuffix(word, "]"), "[")
		name, _, _ = strings.Cut(name, ":")
		for _, trait := range strings.Split(block, ",") {
			switch key, value, _ := strings.Cut(trait, "="); {
			case name != id:
			case key == "model":
				model = value
			case key == "gmem":
				gmem, _ = strconv.Atoi(strings.TrimSuffix(value, "G"))
			}
		}
	}
	return model, gmem
}

// perHost counts what is taken once per host, on the hosts of a task that starts and in the cluster.
func (w *World) perHost(t *grid.JATask, j *grid.Job) {
	if _, asks := j.Hard.Get("lic"); !asks {
		return
	}
	w.hosted++
	all, on := 0, map[string]int{}
	for _, o := range w.objectsOf(grid.KindJATask) {
		t := o.(*grid.JATask)
		of := w.master.sure.Job(t.Job)
		if of == nil || !t.Started() {
			continue
		}
		r, asks := of.Hard.Get("lic")
		seen := map[string]bool{}
		for _, g := range t.Grants {
			if asks && !seen[g.Host] {
				seen[g.Host] = true
				all, on[g.Host] = all+int(r.Num), on[g.Host]+int(r.Num)
			}
		}
	}
	for _, g := range t.Grants {
		w.checkWithin(on[g.Host], g.Host, t)
	}
	w.checkWithin(all, grid.GlobalHost, t)
}

func (w *World) checkWithin(used int, place string, t *grid.JATask) {
	h := w.master.sure.ExecHost(place)
	if h == nil {
		return
	}
	if text, limited := h.ComplexValues.Get("lic"); limited {
		if limit, _ := strconv.Atoi(text); used > limit {
			w.fail("%d.%d starts, and %d of %d lic are taken at %s", t.Job, t.ID, used, limit, place)
		}
	}
}

// instancesOn is notGrantedTwice of one resource on one host.
func (w *World) instancesOn(t *grid.JATask, host, resource string, asked int) {
	place := host
	listed, own := w.listedIDs(host, resource)
	if !own {
		place = grid.GlobalHost
		listed, _ = w.listedIDs(place, resource)
	}
	had := 0
	for _, m := range t.Maps {
		if m.Resource != resource || m.Host != host {
			continue
		}
		had += len(m.IDs)
		for _, id := range m.IDs {
			of := grid.Instance{Resource: resource, ID: id, Host: place}
			if n, most := w.countHolders(resource, place, id), countID(listed, id); n > most {
				w.fail("%d.%d starts with %s, which is granted twice: %d times, and listed %d times", t.Job, t.ID,
					of.Name(), n, most)
			}
			if w.master.sure.Get(grid.KindInstance, of.Key()) != nil {
				w.fail("%d.%d starts with %s, which is out of service", t.Job, t.ID, of.Name())
			}
		}
	}
	if had != asked {
		w.fail("%d.%d starts on %s with %d instances of %s, and asks for %d", t.Job, t.ID, host, had, resource, asked)
	}
}

// listedIDs are the ids of a map, and whether the host has a value at all. The maps here have no ids that
// have to be distinguished from ranges.
func (w *World) listedIDs(host, resource string) (ids []string, own bool) {
	h := w.master.sure.ExecHost(host)
	if h == nil {
		return nil, false
	}
	text, own := h.ComplexValues.Get(resource)
	_, text, _ = strings.Cut(strings.TrimSuffix(text, ")"), "(")
	for _, id := range strings.Fields(text) {
		id, _, _ = strings.Cut(id, "[")
		id, _, _ = strings.Cut(id, ":")
		if first, last, ranged := strings.Cut(id, "-"); ranged {
			for n := first[0]; n <= last[0]; n++ {
				ids = append(ids, string(n))
			}
			continue
		}
		ids = append(ids, id)
	}
	return ids, own
}

// countHolders is how often started tasks have an instance.
func (w *World) countHolders(resource, place, id string) (n int) {
	for _, o := range w.objectsOf(grid.KindJATask) {
		t := o.(*grid.JATask)
		for _, m := range t.Maps {
			at := m.Host
			if m.Global {
				at = grid.GlobalHost
			}
			if t.Started() && m.Resource == resource && at == place {
				n += countID(m.IDs, id)
			}
		}
	}
	return n
}

func countID(ids []string, id string) int {
	return len(ids) - len(slices.DeleteFunc(slices.Clone(ids), func(o string) bool { return o == id }))
}

// withFirst is the planted fault: tasks start with the first instances of the map, whoever has them.
func (w *World) withFirst(list []events.Event) []events.Event {
	list = slices.Clone(list)
	for i, e := range list {
		t, ok := e.Object.(*grid.JATask)
		if !ok || len(t.Maps) == 0 {
			continue
		}
		n := *t
		n.Maps = slices.Clone(t.Maps)
		for k := range n.Maps {
			m := &n.Maps[k]
			place := m.Host
			if m.Global {
				place = grid.GlobalHost
			}
			if listed, _ := w.listedIDs(place, m.Resource); len(listed) >= len(m.IDs) {
				m.IDs = listed[:len(m.IDs)]
			}
		}
		list[i].Object = &n
	}
	return list
}

// withOthers is the planted fault: tasks that select by characteristics start with free instances that
// do not have them.
func (w *World) withOthers(list []events.Event) []events.Event {
	list = slices.Clone(list)
	for i, e := range list {
		t, ok := e.Object.(*grid.JATask)
		j := w.master.sure.Job(e.Key.ID)
		if !ok || j == nil || len(t.Maps) == 0 {
			continue
		}
		r, _ := j.Hard.Get("gpu")
		at := strings.IndexByte(r.Value, '[')
		if at < 0 {
			continue
		}
		n := *t
		n.Maps = slices.Clone(t.Maps)
		for k := range n.Maps {
			m := &n.Maps[k]
			listed, own := w.listedIDs(m.Host, m.Resource)
			for _, id := range listed {
				model, gmem := w.traitsOf(m.Host, m.Resource, id)
				healthy := w.master.sure.Get(grid.KindInstance,
					(&grid.Instance{Resource: m.Resource, ID: id, Host: m.Host}).Key()) == nil
				if own && m.Resource == "gpu" && len(m.IDs) == 1 && healthy && !selections[r.Value[at:]](model, gmem) &&
					w.countHolders(m.Resource, m.Host, id) == 0 {
					m.IDs = []string{id}
				}
			}
		}
		list[i].Object = &n
	}
	return list
}
