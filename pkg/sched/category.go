package sched

import (
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Category is the key that jobs share when nothing the decision sees tells
// them apart: everything that static, slots and Place read of a job, in the
// order of Grid Engine's category strings. Values are numbers where the type
// is numeric, so that 1K and 1024 are the same.
func (c *Cluster) Category(j *grid.Job) string {
	c.settle()
	b := make([]byte, 0, 96)
	b = c.appendLists(b, j)
	b = appendNames(b, " -q ", j.HardQueues)
	b = appendNames(b, " -masterq ", j.MasterQueues)
	b = appendRequests(b, " -l ", j.Hard)
	b = appendRequests(b, " -soft -l ", j.Soft)
	b = appendNames(b, " -soft -q ", j.SoftQueues)
	if j.PE != "" {
		b = append(append(b, " -pe "...), j.PE...)
		for _, r := range j.PERange {
			b = append(b, ' ')
			b = strconv.AppendUint(b, uint64(r.First), 10)
			b = append(b, '-')
			b = strconv.AppendUint(b, uint64(r.Last), 10)
			if r.Step > 1 {
				b = strconv.AppendUint(append(b, ':'), uint64(r.Step), 10)
			}
		}
	}
	if j.Ckpt != "" {
		b = append(append(b, " -ckpt "...), j.Ckpt...)
	}
	if j.Immediate {
		b = append(b, " -I y"...)
	}
	if c.projectsMatter() && j.Project != "" {
		b = append(append(b, " -P "...), j.Project...)
	}
	if j.AR != 0 {
		b = strconv.AppendUint(append(b, " -ar "...), uint64(j.AR), 10)
	}
	if len(b) == 0 {
		return "default"
	}
	return string(b[1:])
}

// appendLists adds the usersets that have the owner, of those that anything
// refers to: two users in the same lists have the same rights.
func (c *Cluster) appendLists(b []byte, j *grid.Job) []byte {
	sep := " -U "
	for _, name := range c.referred {
		if c.sets[name].contains(j.Owner, j.Group) {
			b = append(append(b, sep...), name...)
			sep = ","
		}
	}
	return b
}

func (c *Cluster) projectsMatter() bool { return c.layout.projects }

func appendNames(b []byte, sep string, names grid.Names) []byte {
	for _, n := range names {
		b = append(append(b, sep...), n...)
		sep = ","
	}
	return b
}

// appendRequests adds requests by name.
func appendRequests(b []byte, sep string, requests grid.Requests) []byte {
	last := ""
	for range requests {
		k := -1
		for i := range requests {
			if n := requests[i].Name; n > last && (k < 0 || n < requests[k].Name) {
				k = i
			}
		}
		if k < 0 {
			break
		}
		r := &requests[k]
		last = r.Name
		b = append(append(append(b, sep...), r.Name...), '=')
		if _, ok := grid.CentryType("DOUBLE").Parse(r.Value); r.Num != 0 || ok {
			b = strconv.AppendFloat(b, r.Num, 'g', -1, 64)
		} else {
			b = append(b, strings.TrimSpace(r.Value)...)
		}
		sep = ","
	}
	return b
}
