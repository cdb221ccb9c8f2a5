package algorithmtest

import (
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

func (c *Harness) doSubmit(a *arguments) {
	id, _ := taskID(a.plain[0])
	many := a.number("many", 1)
	ask := &grid.JobRequest{}
	if like := a.number("like", 0); like > 0 { // it asks for the same, in the same words
		ask = c.State.Job(uint32(like)).JobRequest
	}
	j := &grid.Job{JobRequest: ask, ID: id, Version: 1, Name: "job", Owner: "alice", Group: "users", Submit: c.Now,
		Spec: &grid.JobSpec{}}
	c.fill(j, a)
	for range many {
		one := *j
		c.set(&one)
		j.ID++
	}
}

// doAlter replaces what is named and raises the version, as qalter does.
func (c *Harness) doAlter(a *arguments) {
	id, _ := taskID(a.plain[0])
	j := *c.State.Job(id)
	j.Version++
	j.Ask()
	pending := j.Pending
	c.fill(&j, a)
	j.Pending = pending
	c.set(&j)
}

func (c *Harness) doRelease(a *arguments) {
	id, _ := taskID(a.plain[0])
	j := *c.State.Job(id)
	j.UserHold, j.Predecessors = nil, nil
	c.set(&j)
}

func (c *Harness) fill(j *grid.Job, a *arguments) {
	if v := a.takeValue("owner"); v != "" {
		j.Owner = v
	}
	j.Priority = int16(a.number("p", int(j.Priority)))
	if j.Pending == nil {
		j.Tasks = grid.Range{First: 1, Last: 1, Step: 1}
		j.Pending = grid.Ranges{j.Tasks}
	}
	if v := a.takeValue("t"); v != "" {
		j.Array, j.Pending = true, ranges(v)
		j.Tasks = j.Pending[0]
	}
	j.Concurrency = uint32(a.number("tc", int(j.Concurrency)))
	for name, list := range map[string]*grid.Requests{"l": &j.Hard, "soft": &j.Soft, "masterl": &j.MasterHard,
		"slavel": &j.SlaveHard} {
		if a.has(name) {
			*list = c.requests(a.takeValue(name))
		}
	}
	for name, list := range map[string]*grid.Names{"q": &j.HardQueues, "softq": &j.SoftQueues, "masterq": &j.MasterQueues,
		"slaveq": &j.SlaveQueues} {
		if a.has(name) {
			*list = a.names(name)
		}
	}
	if v := a.takeValue("pe"); v != "" {
		pe, r, _ := strings.Cut(v, ":")
		j.PE, j.PERange = pe, ranges(r)
	}
	if v := a.takeValue("R"); v != "" {
		j.Reserve = v == "y"
	}
	if a.takeValue("now") == "y" {
		j.Immediate = true
	}
	if a.takeValue("h") == "y" {
		j.UserHold = j.Pending
	}
	if v := a.takeValue("hold_tasks"); v != "" {
		j.UserHold = ranges(v)
	}
	if n := a.number("a", 0); n > 0 {
		j.ExecTime = c.Now.Add(float64(n))
	}
	for _, n := range a.names("hold_jid") {
		id, _ := taskID(n)
		j.Predecessors = append(j.Predecessors, id)
	}
	if v := a.takeValue("P"); v != "" {
		j.Project = v
	}
	if v := a.takeValue("ckpt"); v != "" {
		j.Ckpt = v
	}
	if n := a.number("ar", 0); n > 0 {
		j.AR = uint32(n)
	}
	if a.has("ac") {
		j.Spec = &grid.JobSpec{Context: splitValues(a.takeValue("ac"))}
	}
	if v := a.takeValue("r"); v != "" {
		j.Restart = map[string]grid.Restart{"y": grid.RestartYes, "n": grid.RestartNo}[v]
	}
	c.fillPolicies(j, a)
}

func (c *Harness) requests(text string) (out grid.Requests) {
	for _, v := range splitValues(text) {
		out = append(out, grid.Request{Name: v.Name, Value: v.Text})
	}
	normal, err := c.Cluster.Complex().Normalise(out)
	if err != nil {
		panic(err)
	}
	return normal
}

// ranges reads 1-5:2,9 and 4- as submitters write them.
func ranges(text string) (out grid.Ranges) {
	for _, part := range strings.Split(text, ",") {
		span, step, _ := strings.Cut(part, ":")
		first, last, isRange := strings.Cut(span, "-")
		r := grid.Range{First: number(first, 1), Step: number(step, 1)}
		switch {
		case !isRange:
			r.Last = r.First
		default:
			r.Last = number(last, grid.Open)
		}
		out = append(out, r)
	}
	return out
}

func number(text string, otherwise uint32) uint32 {
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return uint32(n)
	}
	return otherwise
}
