package cluster

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Load returns what a host reports under a name. Values per processor
// (np_load_avg, ...) are made from the plain ones when the host does not
// report them itself. ok is false when nothing is known; of a host that is down
// only the lasting values are.
func (c *Cluster) Load(host, name string) (text string, ok bool) {
	l := c.loads[host]
	if l == nil || l.Unheard && !lasting.Has(name) {
		return "", false
	}
	if text, ok = l.Values.Get(name); ok {
		return text, true
	}
	plain, np := strings.CutPrefix(name, "np_")
	if !np || l.Processors == 0 {
		return "", false
	}
	text, _ = l.Values.Get(plain)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", false
	}
	return strconv.FormatFloat(v/float64(l.Processors), 'f', 6, 64), true
}

// lasting are the load values that stay known of a host that is down.
var lasting = grid.Names{"arch", "num_proc", "mem_total", "swap_total", "virtual_total", "m_topology", "m_socket", "m_core", "m_thread"}

// LoadNumber is Load for numbers.
func (c *Cluster) LoadNumber(host, name string) (v float64, ok bool) {
	text, ok := c.Load(host, name)
	if !ok {
		return 0, false
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v, true
	}
	return grid.ParseMemory(text)
}

// Load is a load value of the instance's host, such as load_avg, scaled as the
// host says.
func (i *Instance) Load(name string) (float64, bool) {
	v, ok := i.cluster.LoadNumber(i.Host, name)
	if centry := i.cluster.Centry(name); centry != nil {
		v *= factor(i.scaling(), centry)
	}
	return v, ok
}

// scaling is the load_scaling of the instance's host. What jobs see is scaled,
// what qhost(1) tells of a host is as reported.
func (i *Instance) scaling() grid.Values {
	if h := i.cluster.hosts[i.Host]; h != nil {
		return h.LoadScaling
	}
	return nil
}

// factor is what the load value of an attribute is multiplied with.
func factor(scaling grid.Values, centry *grid.Centry) float64 {
	for _, v := range scaling {
		if v.Name == centry.Name || v.Name == centry.Shortcut {
			if f, err := strconv.ParseFloat(v.Text, 64); err == nil {
				return f
			}
		}
	}
	return 1
}

// Arch is the architecture of the instance's host.
func (i *Instance) Arch() (string, bool) { return i.cluster.Load(i.Host, "arch") }

// States is the instance's state with what follows from its host's load:
// alarm a, suspend alarm A, unknown u; and c when its configuration is ambiguous.
func (i *Instance) States() grid.QueueState {
	s := i.State
	if i.ambiguous() != nil {
		s |= grid.QueueAmbiguous
	}
	if i.down() {
		s |= grid.QueueUnknown
	}
	if i.exceeded(resolve(i, i.CQueue.LoadThresholds), "") != "" {
		s |= grid.QueueAlarm
	}
	if i.exceeded(resolve(i, i.CQueue.SuspendThresholds), "") != "" {
		s |= grid.QueueSuspendAlarm
	}
	return s
}

// down says whether nothing is heard of the instance's host.
func (i *Instance) down() bool {
	l := i.cluster.loads[i.Host]
	return l == nil || l.Unheard
}

// Reasons says why the instance is in one of the states given, a line each:
// qstat -explain.
func (i *Instance) Reasons(of grid.QueueState) (lines []string) {
	states := i.States()
	if of&states&grid.QueueAlarm != 0 {
		lines = append(lines, i.exceeded(resolve(i, i.CQueue.LoadThresholds), "load"))
	}
	if of&states&grid.QueueSuspendAlarm != 0 {
		lines = append(lines, i.exceeded(resolve(i, i.CQueue.SuspendThresholds), "suspend"))
	}
	if of&states&grid.QueueAmbiguous != 0 {
		lines = append(lines, i.ambiguous()...)
	}
	if of&states&grid.QueueError != 0 && i.Message != "" {
		lines = append(lines, strings.Split(i.Message, "\n")...)
	}
	return lines
}

// exceeded compares thresholds with what holds at the host and describes the
// first that is reached; empty when none is. A threshold on a load value that
// the host does not report is an alarm too (queue_conf(5) load_thresholds).
func (i *Instance) exceeded(thresholds grid.Values, kind string) string {
	for _, t := range thresholds {
		centry := i.cluster.Centry(t.Name)
		if centry == nil {
			continue
		}
		limit, ok := centry.Type.Parse(t.Text)
		if !ok {
			continue
		}
		r, found := i.Resource(centry.Name)
		switch {
		case !found && i.down():
			return fmt.Sprintf("error: no value for %q because execd is in unknown state", centry.Name)
		case !found:
			return fmt.Sprintf("alarm %s load value not known, %s-threshold=%s", centry.Name, kind, t.Text)
		case reached(centry.Relop, r.Number, limit):
			return fmt.Sprintf("alarm %s=%s %s-threshold=%s", r.label(), r.Text(), kind, t.Text)
		}
	}
	return ""
}

// reached says whether a value has come up (or down, by the attribute's
// relational operator) to its threshold.
func reached(op grid.Relop, value, limit float64) bool {
	switch op {
	case "<=", "<": // requests ask for at least: scarce when low
		return value <= limit
	case "==":
		return value == limit
	case "!=":
		return value != limit
	}
	return value >= limit
}
