package sched

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

// Priority is a job's dispatch priority, sge_priority(5), from its terms, each
// normalised to 0 ... 1:
//
//	weight_priority × npprior + weight_urgency × nurg + weight_ticket × ntckts
func Priority(conf *grid.SchedConf, npprior, nurg, ntckts float64) float64 {
	return conf.WeightPriority*npprior + conf.WeightUrgency*nurg + conf.WeightTicket*ntckts
}

// Normalise maps lo ... hi to 0 ... 1; when they are the same, to 0.5.
func Normalise(v, lo, hi float64) float64 {
	if hi-lo < 0.00001 {
		return undistinguished
	}
	return (v - lo) / (hi - lo)
}

// CheckPriority finds what is wrong with the part of the configuration that
// priorities follow from, sched_conf(5). Weights are not negative: starting a
// job or waiting makes nobody else's job, or one's own, worth less.
func CheckPriority(c *grid.SchedConf) error {
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
