package sched

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Subordinate queues, subordinate_list of queue_conf(5); they rule on one host
// each. Queue-wise (low.q=4): when so many slots of the superior instance are
// in use, the whole subordinate one is suspended. Slot-wise
// (slots=2(low.q:1:sr,...)): when more slots than that are running in the
// tree below, single tasks are.

// Subordination is a subordinate_list made ready.
type Subordination struct {
	Queues    []Subordinate // queue-wise
	Threshold int           // slot-wise, 0: there is none
	Tree      []Preempted
}

// Subordinate is suspended when Slots of the superior are in use; 0: all.
type Subordinate struct {
	Queue string
	Slots int
}

// Preempted is a queue of which tasks are suspended slot-wise: of those of a
// depth the largest Seq first, and there the task that has run longest, or
// shortest.
type Preempted struct {
	Queue   string
	Seq     int
	Longest bool
}

// Names are the queues below, in the order of the list.
func (s Subordination) Names() (names grid.Names) {
	for _, e := range s.Queues {
		names = append(names, e.Queue)
	}
	for _, e := range s.Tree {
		names = append(names, e.Queue)
	}
	return names
}

// ParseSubordinates reads a subordinate_list. The error is what qconf prints.
func ParseSubordinates(list grid.Names) (s Subordination, err error) {
	text := strings.Join(list, ",")
	if rest, ok := strings.CutPrefix(text, "slots="); ok {
		number, tree, ok := strings.Cut(rest, "(")
		tree, closed := strings.CutSuffix(tree, ")")
		if s.Threshold, err = strconv.Atoi(number); err != nil || s.Threshold < 1 || !ok || !closed {
			return s, fmt.Errorf("error parsing value %q", text)
		}
		for _, e := range strings.Split(tree, ",") {
			p, ok := parsePreempted(strings.TrimSpace(e))
			if !ok {
				return s, fmt.Errorf("error parsing value %q", text)
			}
			s.Tree = append(s.Tree, p)
		}
		return s, nil
	}
	for _, e := range list {
		queue, number, counted := strings.Cut(e, "=")
		q := Subordinate{Queue: queue}
		if counted {
			if q.Slots, err = strconv.Atoi(number); err != nil || q.Slots < 0 {
				return s, fmt.Errorf("error parsing value %q", e)
			}
		}
		s.Queues = append(s.Queues, q)
	}
	return s, nil
}

// parsePreempted reads queue[:seq_no][:action].
func parsePreempted(text string) (p Preempted, ok bool) {
	parts := strings.Split(text, ":")
	p.Queue = parts[0]
	if rest := parts[1:]; len(rest) > 0 {
		if n, err := strconv.Atoi(rest[0]); err == nil && n >= 0 {
			p.Seq, rest = n, rest[1:]
		}
		if len(rest) > 0 {
			p.Longest, rest = rest[0] == "lr", rest[1:]
			ok = p.Longest || parts[len(parts)-1] == "sr"
			return p, ok && len(rest) == 0
		}
	}
	return p, p.Queue != ""
}

// resolveSubordinates links the instances of a host.
func (h *host) resolveSubordinates(member func(string) bool) {
	for _, in := range h.instances {
		list := in.queue.SubordinateList.For(h.name, member)
		if len(list) == 0 {
			continue
		}
		s, err := ParseSubordinates(list)
		if err != nil {
			continue
		}
		for _, q := range s.Queues {
			if sub := h.instanceOf(q.Queue); sub != nil && sub != in {
				most := q.Slots
				if most == 0 {
					most = in.slots
				}
				sub.superiors = append(sub.superiors, superior{in, float64(most)})
				h.subordinating = true
			}
		}
		for _, p := range s.Tree {
			if sub := h.instanceOf(p.Queue); sub != nil && sub != in && sub.above == nil && !in.below(sub) {
				sub.above, sub.preempted = in, p
				in.tree, in.threshold = append(in.tree, sub), s.Threshold
				h.subordinating = true
			}
		}
	}
}

// superior suspends an instance when so many of its slots are in use.
type superior struct {
	inst  *instance
	slots float64
}

// below reports whether an instance is another or stands below it in a tree.
func (in *instance) below(root *instance) bool {
	for ; in != nil; in = in.above {
		if in == root {
			return true
		}
	}
	return false
}

// overruled reports whether a superior has taken so many slots that an instance
// is suspended.
func (c *Cluster) overruled(in *instance, n *hostNow) bool {
	for _, s := range in.superiors {
		if n.row(s.inst.place)[0] >= s.slots && s.slots > 0 {
			return true
		}
	}
	return false
}

// Subordinating reports whether some queues of a host are subordinate to others.
func (c *Cluster) Subordinating(host string) bool {
	c.settle()
	i, ok := c.hostAt[host]
	return ok && c.hosts[i].subordinating
}

// Subordinates returns for the instances of a host, by cluster queue, whether they
// are to be suspended queue-wise.
func (c *Cluster) Subordinates(name string) map[string]bool {
	c.settle()
	i, ok := c.hostAt[name]
	if !ok {
		return nil
	}
	out := map[string]bool{}
	for _, in := range c.hosts[i].instances {
		out[in.queue.Name] = c.overruled(in, c.nows.get(i))
	}
	return out
}

// slotwise is the count of a tree: how many slots are running below an
// instance and in it.
func (c *Cluster) slotwise(root *instance, n *hostNow, stopped map[*instance]uint32) int {
	sum := int(n.row(root.place)[0]) - int(stopped[root])
	for _, sub := range root.tree {
		sum += c.slotwise(sub, n, stopped)
	}
	return sum
}

// stopped are the slots of suspended tasks by instance of a host; of those
// that were preempted none are counted anyway.
func (c *Cluster) stopped(h *host) map[*instance]uint32 {
	out := map[*instance]uint32{}
	for _, t := range c.st.OnHost(h.name) {
		if t.State&grid.StateSuspendedAny == 0 || !t.HoldsSlots() {
			continue
		}
		for _, g := range t.Grants {
			if in := h.instanceOf(g.Queue); g.Host == h.name && in != nil {
				out[in] += g.Slots
			}
		}
	}
	return out
}

// Preempt is the next task of a host to be suspended slot-wise, or resumed;
// nil when all trees are as they should be. The trees are visited from the
// leaves to the root.
func (c *Cluster) Preempt(name string) (task *grid.JATask, suspend bool) {
	c.settle()
	i, ok := c.hostAt[name]
	if !ok {
		return nil, false
	}
	h, n := c.hosts[i], c.nows.get(i)
	for _, t := range c.st.OnHost(name) { // what no tree has any more
		in := h.instanceOf(t.Grants[0].Queue)
		if t.State&grid.StateSuspendedSlotwise != 0 && t.Grants[0].Host == name && (in == nil || in.above == nil) {
			return t, false
		}
	}
	stopped := c.stopped(h)
	for _, root := range h.trees() {
		if c.slotwise(root, n, stopped) > root.threshold {
			if t := c.victim(root.descendants(), true); t != nil {
				return t, true
			}
		}
	}
	for _, in := range h.instances {
		if in.above == nil && len(in.tree) > 0 {
			for _, sub := range in.resumable() {
				if t := c.victim([]*instance{sub}, false); t != nil && c.room(sub, n, stopped) >= int(t.Slots()) {
					return t, false
				}
			}
		}
	}
	return nil, false
}

// room is how many slots more may run in an instance, by every threshold above
// it.
func (c *Cluster) room(in *instance, n *hostNow, stopped map[*instance]uint32) int {
	room := unlimitedSlots
	for root := in; root != nil; root = root.above {
		if len(root.tree) > 0 {
			room = min(room, root.threshold-c.slotwise(root, n, stopped))
		}
	}
	return room
}

// trees are the instances with subordinates slot-wise, the deepest first.
func (h *host) trees() (out []*instance) {
	for _, in := range h.instances {
		if len(in.tree) > 0 {
			out = append(out, in)
		}
	}
	slices.SortStableFunc(out, func(a, b *instance) int { return cmp.Compare(b.depth(), a.depth()) })
	return out
}

func (in *instance) depth() (n int) {
	for ; in.above != nil; in = in.above {
		n++
	}
	return n
}

// descendants are the instances below one in the order in which their tasks
// are suspended: the deepest first, of a depth the largest sequence number.
func (in *instance) descendants() (out []*instance) {
	for _, sub := range in.tree {
		out = append(append(out, sub), sub.descendants()...)
	}
	slices.SortStableFunc(out, func(a, b *instance) int {
		return cmp.Or(cmp.Compare(b.depth(), a.depth()), cmp.Compare(b.preempted.Seq, a.preempted.Seq))
	})
	return out
}

// resumable is descendants the other way round.
func (in *instance) resumable() []*instance {
	out := in.descendants()
	slices.Reverse(out)
	return out
}

// victim is the task to suspend, of the first instance that has one, or to let
// continue: the one that was to be suspended last.
func (c *Cluster) victim(instances []*instance, suspend bool) (best *grid.JATask) {
	for _, in := range instances {
		for _, t := range c.st.OnHost(in.host.name) {
			master := t.Grants[0]
			if master.Queue != in.queue.Name || master.Host != in.host.name || t.State&grid.StateDeleted != 0 ||
				suspend && t.State&grid.StateSuspendedAny != 0 || !suspend && t.State&grid.StateSuspendedSlotwise == 0 {
				continue
			}
			newer := best == nil || t.Start > best.Start
			if best == nil || newer == (in.preempted.Longest != suspend) {
				best = t
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// preemptedSlots is how many slots may start in an instance before a task that
// starts there would be suspended at once slot-wise: what every threshold
// above leaves, and what it takes from queues that go before it.
func (c *Cluster) preemptedSlots(in *instance, n *hostNow) int {
	if in.above == nil {
		return unlimitedSlots
	}
	stopped := c.stopped(in.host)
	room := unlimitedSlots
	for root := in.above; root != nil; root = root.above {
		left := root.threshold - c.slotwise(root, n, stopped)
		for _, sub := range root.descendants() {
			if sub == in {
				break
			}
			left += int(n.row(sub.place)[0]) - int(stopped[sub])
		}
		room = min(room, left)
	}
	return max(room, 0)
}

// preempts reports whether any host of grants has subordinate queues.
func (c *Cluster) preempts(grants []grid.Grant) bool {
	return slices.ContainsFunc(grants, func(g grid.Grant) bool {
		h, ok := c.hostAt[g.Host]
		return ok && c.hosts[h].subordinating
	})
}
