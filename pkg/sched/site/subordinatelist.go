package site

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

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
func (h *Host) resolveSubordinates(member func(string) bool) {
	for _, in := range h.Instances {
		list := in.Queue.SubordinateList.For(h.Name, member)
		if len(list) == 0 {
			continue
		}
		s, err := ParseSubordinates(list)
		if err != nil {
			continue
		}
		for _, q := range s.Queues {
			if sub := h.InstanceOf(q.Queue); sub != nil && sub != in {
				most := q.Slots
				if most == 0 {
					most = in.Slots
				}
				sub.Superiors = append(sub.Superiors, superior{in, float64(most)})
				h.Subordinating = true
			}
		}
		for _, p := range s.Tree {
			if sub := h.InstanceOf(p.Queue); sub != nil && sub != in && sub.Above == nil && !in.below(sub) {
				sub.Above, sub.Preempted = in, p
				in.Tree, in.Threshold = append(in.Tree, sub), s.Threshold
				h.Subordinating = true
			}
		}
	}
}

// superior suspends an instance when so many of its slots are in use.
type superior struct {
	Inst  *Instance
	Slots float64
}

// below reports whether an instance is another or stands below it in a tree.
func (in *Instance) below(root *Instance) bool {
	for ; in != nil; in = in.Above {
		if in == root {
			return true
		}
	}
	return false
}

// Trees are the instances with subordinates slot-wise, the deepest first.
func (h *Host) Trees() (out []*Instance) {
	for _, in := range h.Instances {
		if len(in.Tree) > 0 {
			out = append(out, in)
		}
	}
	slices.SortStableFunc(out, func(a, b *Instance) int { return cmp.Compare(b.depth(), a.depth()) })
	return out
}

func (in *Instance) depth() (n int) {
	for ; in.Above != nil; in = in.Above {
		n++
	}
	return n
}

// Descendants are the instances below one in the order in which their tasks
// are suspended: the deepest first, of a depth the largest sequence number.
func (in *Instance) Descendants() (out []*Instance) {
	for _, sub := range in.Tree {
		out = append(append(out, sub), sub.Descendants()...)
	}
	slices.SortStableFunc(out, func(a, b *Instance) int {
		return cmp.Or(cmp.Compare(b.depth(), a.depth()), cmp.Compare(b.Preempted.Seq, a.Preempted.Seq))
	})
	return out
}

// Resumable is descendants the other way round.
func (in *Instance) Resumable() []*Instance {
	out := in.Descendants()
	slices.Reverse(out)
	return out
}
