package core

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

func validPE(c *Core, o grid.Object) string {
	p := o.(*grid.PE)
	if t := validName("parallel environment", p.Name); t != "" {
		return t
	}
	switch p.AllocationRule {
	case "$pe_slots", "$fill_up", "$round_robin":
	default:
		if n, err := strconv.Atoi(p.AllocationRule); err != nil || n < 1 {
			return fmt.Sprintf("denied: %q is not a valid allocation rule", p.AllocationRule)
		}
	}
	switch p.UrgencySlots {
	case "", "min", "max", "avg":
	default:
		if n, err := strconv.Atoi(p.UrgencySlots); err != nil || n < 0 {
			return fmt.Sprintf("denied: %q is not a valid value for urgency_slots", p.UrgencySlots)
		}
	}
	return c.missingLists(p.UserLists, p.XUserLists)
}

func peInUse(c *Core, _ gdi.Request, o grid.Object) string {
	name := o.Key().Name
	return c.referenced("denied: Parallel environment", name, "queue list",
		func(j *grid.Job) bool { return j.PE == name },
		func(q *grid.CQueue) []grid.Names { return all(q.PEList) })
}

// referenced names the first job or cluster queue that still needs an object.
func (c *Core) referenced(what, name, list string, byJob func(*grid.Job) bool, byQueue func(*grid.CQueue) []grid.Names) string {
	return firstNonEmpty(
		c.eachJob(func(j *grid.Job) string {
			if byJob(j) {
				return fmt.Sprintf("%s %q is still referenced in job %d.", what, name, j.ID)
			}
			return ""
		}),
		c.eachCQueue(func(q *grid.CQueue) string {
			for _, l := range byQueue(q) {
				if l.Has(name) {
					return fmt.Sprintf("%s %q is still referenced in %s %q.", what, name, list, q.Name)
				}
			}
			return ""
		}))
}

func calendarInUse(c *Core, _ gdi.Request, o grid.Object) string {
	name := o.Key().Name
	return c.eachCQueue(func(q *grid.CQueue) string {
		for _, l := range all(q.Calendar) {
			if l == name {
				return fmt.Sprintf("denied: Calendar %q is still referenced in queue %q.", name, q.Name)
			}
		}
		return ""
	})
}

func validCentry(c *Core, o grid.Object) string {
	e := o.(*grid.Centry)
	if t := validName("attribute", e.Name); t != "" {
		return t
	}
	switch e.Type {
	case "INT", "DOUBLE", "STRING", "CSTRING", "RESTRING", "HOST", "BOOL", "TIME", "MEMORY":
	default:
		return fmt.Sprintf("unknown attribute type %q", e.Type)
	}
	switch e.Relop {
	case "==", "!=", ">=", ">", "<=", "<", "EXCL":
	default:
		return fmt.Sprintf("unknown relational operator %q", e.Relop)
	}
	switch e.Requestable {
	case "YES", "NO", "FORCED":
	default:
		return fmt.Sprintf("unknown value %q for requestable of attribute %q", e.Requestable, e.Name)
	}
	switch e.Consumable {
	case "NO":
	case "YES", "JOB":
		switch {
		case !e.Type.Numeric():
			return fmt.Sprintf("denied: attribute %q of type %s can't be a consumable", e.Name, e.Type)
		case e.Relop == "EXCL":
			return fmt.Sprintf("denied: exclusive attribute %q is not supported by this version", e.Name)
		case e.Relop != "<=":
			return fmt.Sprintf("denied: consumable attribute %q must use the relational operator <=", e.Name)
		case e.Requestable == "FORCED" && nonZero(e):
			return fmt.Sprintf("denied: attribute %q is a forced consumable and may not have a default", e.Name)
		case e.Requestable == "NO" && !nonZero(e):
			return fmt.Sprintf("denied: attribute %q is a consumable that can't be requested and needs a default", e.Name)
		}
	default:
		return fmt.Sprintf("unknown value %q for consumable of attribute %q", e.Consumable, e.Name)
	}
	if e.Type.Numeric() {
		if _, ok := e.Type.Parse(e.Default); !ok {
			return fmt.Sprintf("attribute %q has an invalid default %q", e.Name, e.Default)
		}
	}
	if _, err := strconv.ParseFloat(e.Urgency, 64); err != nil {
		return fmt.Sprintf("attribute %q has an invalid urgency %q", e.Name, e.Urgency)
	}
	for _, o := range c.state.Centries() {
		if o.Name != e.Name && (o.Shortcut == e.Shortcut || o.Name == e.Shortcut || o.Shortcut == e.Name) {
			return fmt.Sprintf("attribute name/shortcut of %q and %q are not unique", e.Name, o.Name)
		}
	}
	return ""
}

func nonZero(e *grid.Centry) bool {
	v, _ := e.Type.Parse(e.Default)
	return v != 0
}

// builtin are the attributes that the system itself gives a meaning.
var builtin = grid.Names{"arch", "calendar", "h_core", "h_cpu", "h_data", "h_fsize", "h_rss", "h_rt", "h_stack",
	"h_vmem", "hostname", "load_avg", "load_long", "load_medium", "load_short", "np_load_avg", "np_load_long",
	"np_load_medium", "np_load_short", "num_proc", "qname", "rerun", "s_core", "s_cpu", "s_data", "s_fsize",
	"s_rss", "s_rt", "s_stack", "s_vmem", "seq_no", "slots", "tmpdir"}

func centryInUse(c *Core, _ gdi.Request, o grid.Object) string {
	name := o.Key().Name
	if builtin.Has(name) {
		return fmt.Sprintf("denied: complex attribute %q is built in and can't be removed", name)
	}
	for _, h := range c.state.ExecHosts() {
		if _, ok := h.ComplexValues.Get(name); ok {
			return fmt.Sprintf("denied: complex attribute %q is still referenced in host %q", name, h.Name)
		}
	}
	return firstNonEmpty(
		c.eachCQueue(func(q *grid.CQueue) string {
			for _, l := range append(all(q.ComplexValues), all(q.LoadThresholds)...) {
				if _, ok := l.Get(name); ok {
					return fmt.Sprintf("denied: complex attribute %q is still referenced in queue %q", name, q.Name)
				}
			}
			return ""
		}),
		c.eachJob(func(j *grid.Job) string {
			_, hard := j.Hard.Get(name)
			_, soft := j.Soft.Get(name)
			if hard || soft {
				return fmt.Sprintf("denied: complex attribute %q is still requested by job %d", name, j.ID)
			}
			return ""
		}))
}

func validUserset(_ *Core, o grid.Object) string {
	u := o.(*grid.Userset)
	if t := validName("userset", u.Name); t != "" {
		return t
	}
	for _, w := range strings.Fields(u.Type) {
		if w != "ACL" && w != "DEPT" {
			return fmt.Sprintf("denied: unknown userset type %q", u.Type)
		}
	}
	return ""
}

func usersetInUse(c *Core, _ gdi.Request, o grid.Object) string {
	name := o.Key().Name
	uses := func(lists ...grid.Names) bool {
		for _, l := range lists {
			if l.Has(name) {
				return true
			}
		}
		return false
	}
	for _, h := range c.state.ExecHosts() {
		if uses(h.UserLists, h.XUserLists) {
			return fmt.Sprintf("denied: userset %q is still referenced in host %q", name, h.Name)
		}
	}
	for _, p := range c.state.PEs() {
		if uses(p.UserLists, p.XUserLists) {
			return fmt.Sprintf("denied: userset %q is still referenced in parallel environment %q", name, p.Name)
		}
	}
	for _, o := range c.all(grid.KindProject) {
		if p := o.(*grid.Project); uses(p.ACL, p.XACL) {
			return fmt.Sprintf("denied: userset %q is still referenced in project %q", name, p.Name)
		}
	}
	for _, list := range []string{"user_lists", "xuser_lists"} {
		if uses(confNames(c.param(list))) {
			return fmt.Sprintf("denied: userset %q is still referenced in %s of the configuration", name, list)
		}
	}
	return c.eachCQueue(func(q *grid.CQueue) string {
		if uses(append(all(q.UserLists), all(q.XUserLists)...)...) {
			return fmt.Sprintf("denied: userset %q is still referenced in queue %q", name, q.Name)
		}
		return ""
	})
}

func validProject(c *Core, o grid.Object) string {
	p := o.(*grid.Project)
	return firstNonEmpty(validName("project", p.Name), c.missingLists(p.ACL, p.XACL))
}

func projectInUse(c *Core, _ gdi.Request, o grid.Object) string {
	name := o.Key().Name
	for _, h := range c.state.ExecHosts() {
		if h.Projects.Has(name) || h.XProjects.Has(name) {
			return fmt.Sprintf("denied: project %q is still referenced in host %q", name, h.Name)
		}
	}
	for _, list := range []string{"projects", "xprojects"} {
		if confNames(c.param(list)).Has(name) {
			return fmt.Sprintf("denied: project %q is still referenced in %s of the configuration", name, list)
		}
	}
	return firstNonEmpty(c.inShareTree("project", name), c.referenced("denied: Project", name, "queue",
		func(j *grid.Job) bool { return j.Project == name },
		func(q *grid.CQueue) []grid.Names { return append(all(q.Projects), all(q.XProjects)...) }))
}

// badHierarchy refuses a policy_hierarchy of anything but O, F, S and D, each
// once; sched_conf(5).
func badHierarchy(text string) string {
	if strings.EqualFold(text, "none") {
		return ""
	}
	for i, l := range text {
		if !strings.ContainsRune("OFSD", l) || strings.ContainsRune(text[:i], l) {
			return fmt.Sprintf("denied: invalid policy_hierarchy %q", text)
		}
	}
	return ""
}

func validSchedConf(c *Core, o grid.Object) string {
	s := o.(*grid.SchedConf)
	if s.Algorithm != "default" {
		return fmt.Sprintf("denied: scheduling algorithm %q is not known; this version has: default", s.Algorithm)
	}
	switch s.QueueSortMethod {
	case "load", "seqno":
	default:
		return fmt.Sprintf("denied: unknown queue_sort_method %q", s.QueueSortMethod)
	}
	if n, ok := s.ScheduleInterval.Seconds(); !ok || n <= 0 || n >= grid.Infinity {
		return fmt.Sprintf("denied: invalid schedule_interval %q", s.ScheduleInterval)
	}
	d, ok := s.DefaultDuration.Seconds()
	switch {
	case !ok:
		return fmt.Sprintf("denied: invalid default_duration %q", s.DefaultDuration)
	case d == 0 && s.MaxReservation != 0:
		return "denied: resource reservation requires valid default duration"
	}
	if _, err := sched.NewUsagePolicy(s); err != nil {
		return "denied: " + err.Error()
	}
	return firstNonEmpty(badHierarchy(s.PolicyHierarchy), badParams("params", s.Params, schedParams), badDurations(s), c.badValues(s.JobLoadAdjustments))
}

// badDurations holds the words of params against what they may say.
func badDurations(s *grid.SchedConf) string {
	if text, ok := s.Param("DURATION_OFFSET"); ok {
		if n, ok := grid.ParseTimeSpan(text); !ok || n >= grid.Infinity {
			return fmt.Sprintf("denied: invalid DURATION_OFFSET %q in params", text)
		}
	}
	if text, ok := s.Param("DURATION_LIMIT"); ok && text != "min" && text != "max" {
		return fmt.Sprintf("denied: DURATION_LIMIT in params is min or max, not %q", text)
	}
	return ""
}
