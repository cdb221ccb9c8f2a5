package sched

import (
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched/site"
)

// Category returns the key of all jobs that are equal for placement: everything that
// static, slots and Place read of a job, in the order of Grid Engine's category strings.
// Values are numbers where the type is numeric, so that 1K and 1024 are the same.
func (c *Cluster) Category(j *grid.Job) string {
	c.settle()
	b := make([]byte, 0, 96)
	b = appendLists(c.site, b, j)
	b = appendNames(b, " -q ", j.HardQueues)
	b = appendNames(b, " -masterq ", j.MasterQueues)
	b = c.site.Complex.AppendNumbers(b, " -l ", j.Hard)
	b = c.site.Complex.AppendNumbers(b, " -soft -l ", j.Soft)
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
	if j.Binding.Decided() {
		b = append(append(b, " -binding "...), j.Binding.String()...)
	}
	if j.Ckpt != "" {
		b = append(append(b, " -ckpt "...), j.Ckpt...)
	}
	if j.Immediate {
		b = append(b, " -I y"...)
	}
	if j.Reserve { // what a reservation finds out holds for those that may reserve
		b = append(b, " -R y"...)
	}
	if c.site.Projects && j.Project != "" {
		b = append(append(b, " -P "...), j.Project...)
	}
	b = appendQuotas(c.site, b, j)
	if j.AR != 0 {
		b = strconv.AppendUint(append(b, " -ar "...), uint64(j.AR), 10)
		b = append(append(b, " -u "...), j.Owner...)
	}
	b = appendScoped(b, j, c.site.Complex.AppendNumbers)
	if len(b) == 0 {
		return "default"
	}
	return string(b[1:])
}

// AccountedCategory returns the category of a job as accounting(5) has it: the requests
// that distinguish jobs, as options of qsub; "" for a job without any.
func (c *Cluster) AccountedCategory(j *grid.Job) string {
	c.settle()
	b := appendLists(c.site, nil, j)
	b = appendNames(b, " -q ", j.HardQueues)
	b = appendNames(b, " -masterq ", j.MasterQueues)
	b = c.site.Complex.AppendTexts(b, " -l ", j.Hard)
	b = c.site.Complex.AppendTexts(b, " -soft -l ", j.Soft)
	b = appendNames(b, " -soft -q ", j.SoftQueues)
	if j.PE != "" {
		b = appendSlots(append(append(b, " -pe "...), j.PE...), j.PERange)
	}
	if j.Ckpt != "" {
		b = append(append(b, " -ckpt "...), j.Ckpt...)
	}
	if j.Immediate {
		b = append(b, " -I y"...)
	}
	if c.site.Projects && j.Project != "" {
		b = append(append(b, " -P "...), j.Project...)
	}
	if j.AR != 0 {
		b = strconv.AppendUint(append(b, " -ar "...), uint64(j.AR), 10)
	}
	b = appendScoped(b, j, c.site.Complex.AppendTexts)
	if len(b) == 0 {
		return ""
	}
	return string(b[1:])
}

// appendScoped adds what only some tasks ask for. It comes last, as what follows -scope is for these.
func appendScoped(b []byte, j *grid.Job, appendList func([]byte, string, grid.Requests) []byte) []byte {
	b = appendList(b, " -scope master -l ", j.MasterHard)
	if len(j.SlaveQueues)+len(j.SlaveHard) > 0 {
		b = append(b, " -scope slave"...)
	}
	b = appendNames(b, " -q ", j.SlaveQueues)
	return appendList(b, " -l ", j.SlaveHard)
}

// appendSlots adds a slot range: 2, 2-4, 2,4, 1-9999999 when it is open.
func appendSlots(b []byte, slots grid.Ranges) []byte {
	sep := byte(' ')
	for _, r := range slots {
		last := r.Last
		if last == grid.Open {
			last = openSlots
		}
		b = strconv.AppendUint(append(b, sep), uint64(r.First), 10)
		switch step := max(r.Step, 1); {
		case last == r.First+step:
			b = strconv.AppendUint(append(b, ','), uint64(last), 10)
		case last > r.First:
			b = strconv.AppendUint(append(b, '-'), uint64(last), 10)
			if step > 1 {
				b = strconv.AppendUint(append(b, ':'), uint64(step), 10)
			}
		}
		sep = ','
	}
	return b
}

// openSlots ends an open slot range in Grid Engine's files.
const openSlots = 9999999

// Personal reports whether categories depend on whose the jobs are, jobs of advance
// reservations aside.
func (c *Cluster) Personal() bool {
	c.settle()
	return len(c.site.Referred) > 0 || len(c.site.Quotas.Rules) > 0 || c.site.Projects
}

// appendLists adds the usersets that have the owner, of those that anything
// refers to: two users in the same lists have the same rights.
func appendLists(cfg *site.Layout, b []byte, j *grid.Job) []byte {
	sep := " -U "
	for _, name := range cfg.Referred {
		if cfg.Sets[name].Contains(j.Owner, j.Group) {
			b = append(append(b, sep...), name...)
			sep = ","
		}
	}
	return b
}

func appendNames(b []byte, sep string, names grid.Names) []byte {
	for _, n := range names {
		b = append(append(b, sep...), n...)
		sep = ","
	}
	return b
}

// CategoryBasis is what categories depend on besides the jobs: while it stays
// the same, so does every job's Category, and how many of its tasks may run.
func (c *Cluster) CategoryBasis() string {
	c.settle()
	return c.site.Basis
}
