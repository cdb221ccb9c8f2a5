package shares

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// undistinguished is what a term of the priority is when it distinguishes no
// jobs.
const undistinguished = 0.5

// Priority returns a job's dispatch priority, sge_priority(5), from its terms, each
// normalised to 0 ... 1:
//
//	weight_priority × npprior + weight_urgency × nurg + weight_ticket × ntckts
func Priority(conf *grid.SchedConf, npprior, nurg, ntckts float64) float64 {
	return conf.WeightPriority*npprior + conf.WeightUrgency*nurg + conf.WeightTicket*ntckts
}

// Normalise maps lo ... hi to 0 ... 1, and a value outside to the nearer end;
// when lo and hi are equal, to 0.5.
func Normalise(v, lo, hi float64) float64 {
	if hi-lo < 0.00001 {
		return undistinguished
	}
	return min(max((v-lo)/(hi-lo), 0), 1)
}

// Terms are the terms of a task's dispatch priority, sge_priority(5), and their
// weighted sum.
type Terms struct {
	Urgency
	NPOSIX, NUrgency, NTickets float64 // normalised
	Priority                   float64
}

// TermsOf returns the terms of a task from its job's -p and urgency, within the
// ranges that a scheduling run has observed over all jobs.
func TermsOf(conf *grid.SchedConf, within *grid.PriorityRange, priority int16, u Urgency, tickets float64) Terms {
	w := Terms{Urgency: u,
		NPOSIX:   Normalise(float64(priority), within.LeastPriority, within.MostPriority),
		NUrgency: Normalise(u.Sum(), within.LeastUrgency, within.MostUrgency)}
	return w.WithTickets(conf, within, tickets)
}

// WithTickets returns the terms with another number of tickets.
func (w Terms) WithTickets(conf *grid.SchedConf, within *grid.PriorityRange, tickets float64) Terms {
	w.NTickets = Normalise(tickets, 0, within.MostTickets)
	w.Priority = Priority(conf, w.NPOSIX, w.NUrgency, w.NTickets)
	return w
}

// PendingPriority returns the priority that a scheduling run has found for a
// pending job, computed from the ranges that it reported over all jobs and the
// tickets that it reported for this one: a run does not report each job where
// many wait, nor what changes with the time alone. Without ticket policies the
// result is exact. With them, where the job was not reported, its tickets are
// NaN and the priority is its lower bound. For a job that was submitted or
// altered later it follows from the ranges observed before.
func PendingPriority(
	conf *grid.SchedConf, within *grid.PriorityRange, j *grid.Job, resources float64, reported *grid.Priority,
) grid.Priority {
	p := grid.Priority{Job: j.ID}
	if reported != nil {
		p = *reported
	}
	w := currentTerms(conf, within, j, resources, float64(p.Tickets))
	p.Priority, p.NPOSIX, p.NUrgency, p.NTickets = w.Priority, float32(w.NPOSIX), float32(w.NUrgency), float32(w.NTickets)
	p.Urgency, p.RRContr, p.WTContr, p.DLContr = float32(w.Sum()), float32(w.Resources), float32(w.Waiting),
		float32(w.Deadline)
	if reported == nil && within.MostTickets > 0 {
		none := float32(math.NaN())
		p.NTickets, p.Tickets, p.OTickets, p.FTickets, p.STickets, p.Share = none, none, none, none, none, none
	}
	return p
}

// RunningPriority returns a task that has started with its priority as of the
// same run; the task keeps its tickets.
func RunningPriority(
	conf *grid.SchedConf, within *grid.PriorityRange, j *grid.Job, resources float64, t *grid.JATask,
) *grid.JATask {
	w := currentTerms(conf, within, j, resources, t.Tickets)
	n := *t
	n.Priority, n.NTickets = w.Priority, w.NTickets
	return &n
}

func currentTerms(conf *grid.SchedConf, within *grid.PriorityRange, j *grid.Job, resources, tickets float64) Terms {
	u := UrgencyOf(conf, resources, j.Submit, j.Deadline, max(within.At, j.Submit))
	return TermsOf(conf, within, j.Priority, u, tickets)
}

// CheckConfig fails when the parameters of priorities in the scheduler
// configuration are invalid, sched_conf(5). No weight is negative: starting a job
// or waiting lowers no priority.
func CheckConfig(c *grid.SchedConf) error {
	for _, w := range []struct {
		name  string
		value float64
	}{
		{"weight_priority", c.WeightPriority}, {"weight_urgency", c.WeightUrgency}, {"weight_ticket", c.WeightTicket},
		{"weight_waiting_time", c.WeightWaitingTime}, {"weight_deadline", c.WeightDeadline},
		{"weight_user", c.WeightUser}, {"weight_project", c.WeightProject}, {"weight_department", c.WeightDepartment},
		{"weight_job", c.WeightJob}, {"compensation_factor", c.CompensationFactor},
	} {
		if !(w.value >= 0) || math.IsInf(w.value, 0) {
			return fmt.Errorf(`invalid setting for param: %q(should be ">=0")`, w.name)
		}
	}
	if !strings.EqualFold(c.PolicyHierarchy, "none") {
		for i, l := range c.PolicyHierarchy {
			if !strings.ContainsRune("OFSD", l) || strings.ContainsRune(c.PolicyHierarchy[:i], l) {
				return fmt.Errorf("invalid policy_hierarchy %q", c.PolicyHierarchy)
			}
		}
	}
	for _, name := range [...]string{"PRIORITY_RANGE", "USER_SORT", "SHARE_DEADLINE_TICKETS", "WEIGHT_TICKETS_DEADLINE"} {
		text, given := c.Param(name)
		ok := true
		switch {
		case !given:
		case name == "PRIORITY_RANGE":
			ok = strings.EqualFold(text, "fixed") || strings.EqualFold(text, "observed")
		case name == "WEIGHT_TICKETS_DEADLINE":
			n, err := strconv.ParseFloat(text, 64)
			ok = err == nil && n >= 0 && !math.IsInf(n, 0)
		default:
			_, ok = grid.CentryType("BOOL").Parse(text)
		}
		if !ok {
			return fmt.Errorf("invalid scheduler param setting: %q", name+"="+text)
		}
	}
	return nil
}
