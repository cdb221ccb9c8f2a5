package sched

import (
	"cmp"
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
)

// taken is an instance of a resource map that a started task has, and how often it has it: more than
// once only of what the map lists so often.
type taken struct {
	stockKey
	id    string
	task  uint64 // see numberOf
	times int
}

// before is the order of Cluster.taken: by map, instance and task.
func (a taken) before(b taken) bool {
	if a.host != b.host { // as most are: no text is looked at
		return a.host < b.host
	}
	return cmp.Or(cmp.Compare(a.column, b.column), cmp.Compare(a.id, b.id), cmp.Compare(a.task, b.task)) < 0
}

// noteInstances notes the instances that a task has which starts; sign -1: which ends.
func (c *Cluster) noteInstances(t *grid.JATask, sign int) {
	for i := range t.Maps {
		m := &t.Maps[i]
		key := stockKey{c.columnOf(m.Resource), wholeCluster}
		if h, known := c.site.HostAt[m.Host]; known && !m.Global {
			key.host = h
		} else if !m.Global {
			continue
		}
		for _, id := range m.IDs {
			n := taken{key, id, numberOf(t.Job, t.ID), 1}
			old, _ := c.taken.own().Delete(n)
			if n.times = old.times + sign; n.times > 0 {
				c.taken.own().Set(n)
			}
		}
	}
}

// eachTaken calls f with what started tasks have of a map, by instance.
func (c *Cluster) eachTaken(of stockKey, f func(taken)) {
	c.whole().taken.rows.Ascend(taken{stockKey: of}, func(n taken) bool {
		if n.stockKey != of {
			return false
		}
		f(n)
		return true
	})
}

// timesTaken is how often started tasks have an instance of a map.
func (c *Cluster) timesTaken(of stockKey, id string) (times int) {
	c.whole().taken.rows.Ascend(taken{stockKey: of, id: id}, func(n taken) bool {
		if n.stockKey != of || n.id != id {
			return false
		}
		times += n.times
		return true
	})
	return times
}

// takenIDs are the ids of instances of a map that are taken, in order, each as often as it is.
type takenIDs []string

// takenOf returns what started tasks have of a map.
func (c *Cluster) takenOf(m stockKey) *takenIDs {
	all := make(takenIDs, 0, 8)
	c.eachTaken(m, func(n taken) {
		for range n.times {
			all = append(all, n.id)
		}
	})
	return &all
}

func (t takenIDs) count(id string) (n int) {
	for i, _ := slices.BinarySearch(t, id); i < len(t) && t[i] == id; i++ {
		n++
	}
	return n
}

func (t *takenIDs) add(id string) {
	i, _ := slices.BinarySearch(*t, id)
	*t = slices.Insert(*t, i, id)
}
