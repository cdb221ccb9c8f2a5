package core

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/shares"
)

// settings is what the configuration says of what happens with every job, read
// from its text once.
type settings struct {
	global *grid.Conf
	text   map[string]string // its parameters; "" for NONE

	leastUser, leastGroup          uint32 // min_uid, min_gid
	maxTasks, maxUserJobs, maxJobs uint32 // max_aj_tasks, max_u_jobs, max_jobs
	users, xusers                  grid.Names
	projects, xprojects            grid.Names
	needsProject, needsUser        bool    // enforce_project, enforce_user
	makesUsers                     bool    // enforce_user auto
	reports                        bool    // reporting_params reporting
	maxMails                       int     // qmaster_params MAX_MAIL_RECIPIENTS
	mayRestart, mayFail            bool    // not qmaster_params FORBID_RESCHEDULE, FORBID_APPERROR
	keepsUsers                     float64 // auto_user_delete_time, seconds
	departments                    []*grid.Userset
	usage                          shares.UsagePolicy
	logins                         grid.Logins
	admit                          func(*grid.Job, grid.Resources) string // of the scheduler's algorithm; nil: all are admitted
	hosts                          map[string]*hostSettings
}

// hostSettings are those of a host, read when they are first asked for.
type hostSettings struct {
	conf          uint64       // the fingerprint of what execd is to follow
	silent        float64      // seconds without a sign of life after which the host is unheard; 0: never
	again         float64      // reschedule_unknown
	reservedUsage bool         // execd_params ACCT_RESERVED_USAGE
	reservedShare bool         // execd_params SHARETREE_RESERVED_USAGE
	scaling       grid.Amounts // usage_scaling
	queues        map[string]*report.Queue
}

// followSettings takes note of an event: settings are read anew after one that may change them.
func (c *Core) followSettings(e events.Event) {
	switch e.Kind {
	case grid.KindConf, grid.KindSchedConf, grid.KindUserset, grid.KindExecHost, grid.KindHGroup, grid.KindCQueue:
		c.forgetSettings()
	}
}

// forgetSettings has settings read anew.
func (c *Core) forgetSettings() { c.read = nil }

// settings are those of the newest configuration.
func (c *Core) settings() *settings {
	if c.read == nil {
		c.read = c.newSettings()
	}
	return c.read
}

func (c *Core) newSettings() *settings {
	s := &settings{global: c.state.Conf(grid.GlobalConf), text: map[string]string{}, hosts: map[string]*hostSettings{}}
	if s.global == nil {
		s.global = &grid.Conf{}
	}
	for _, e := range s.global.Effective(nil) {
		s.text[e.Name] = s.global.Get(e.Name)
	}
	s.leastUser, s.leastGroup = s.number("min_uid"), s.number("min_gid")
	s.maxTasks, s.maxUserJobs, s.maxJobs = s.number("max_aj_tasks"), s.number("max_u_jobs"), s.number("max_jobs")
	s.users, s.xusers = confNames(s.text["user_lists"]), confNames(s.text["xuser_lists"])
	s.projects, s.xprojects = confNames(s.text["projects"]), confNames(s.text["xprojects"])
	s.needsProject = strings.EqualFold(s.text["enforce_project"], "true")
	s.needsUser, s.makesUsers = strings.EqualFold(s.text["enforce_user"], "true"), strings.EqualFold(s.text["enforce_user"], "auto")
	wanted, _ := s.global.Reporting()
	s.reports = wanted.Reporting
	s.logins, _ = s.global.Logins()
	forbids := func(word string) bool { return grid.ParamSet(s.text["qmaster_params"], word) }
	s.mayRestart, s.mayFail = !forbids("FORBID_RESCHEDULE"), !forbids("FORBID_APPERROR")
	s.maxMails = mailsMax
	if text, given := grid.ParamIn(s.text["qmaster_params"], "MAX_MAIL_RECIPIENTS"); given {
		if n, err := strconv.Atoi(text); err == nil {
			s.maxMails = n
		}
	}
	s.keepsUsers = float64(s.number("auto_user_delete_time"))
	c.state.Each(grid.KindUserset, func(o grid.Object) bool {
		if u := o.(*grid.Userset); strings.Contains(u.Type, "DEPT") {
			s.departments = append(s.departments, u)
		}
		return true
	})
	conf := c.state.SchedConf()
	s.usage, _ = shares.NewUsagePolicy(conf) // it was checked when it was set
	for _, a := range c.algorithms {
		if a.Name == conf.Algorithm && a.Admission != nil {
			s.admit = a.Admission(*conf)
		}
	}
	return s
}

// number is a numeric parameter of the global configuration, 0 when not set.
func (s *settings) number(name string) uint32 {
	n, _ := strconv.ParseUint(s.text[name], 10, 32)
	return uint32(n)
}

// settingsOf are those of a host.
func (c *Core) settingsOf(host string) *hostSettings {
	s := c.settings()
	h := s.hosts[host]
	if h == nil {
		h = c.newHostSettings(host)
		s.hosts[host] = h
	}
	return h
}

func (c *Core) newHostSettings(host string) *hostSettings {
	h := &hostSettings{queues: map[string]*report.Queue{}}
	conf := &grid.Conf{Entries: c.confFor(host)}
	h.conf = report.Fingerprint(conf.Entries)
	seconds := func(name string) float64 {
		n, _ := grid.ParseTimeSpan(conf.Get(name))
		return n
	}
	h.silent, h.again = max(3*seconds("load_report_time"), seconds("max_unheard")), seconds("reschedule_unknown")
	has := func(word string) bool {
		text, given := conf.Param("execd_params", word)
		return given && (text == "1" || strings.EqualFold(text, "true") || strings.EqualFold(text, "yes"))
	}
	h.reservedUsage, h.reservedShare = has("ACCT_RESERVED_USAGE"), has("SHARETREE_RESERVED_USAGE")
	for i := range h.scaling {
		h.scaling[i] = 1
	}
	if o := c.state.ExecHost(host); o != nil {
		for _, v := range o.UsageScaling {
			if i := slices.Index(grid.UsageNames[:], v.Name); i >= 0 {
				factor, _ := strconv.ParseFloat(v.Text, 64)
				h.scaling[i] *= factor
			}
		}
	}
	return h
}

// queueFor is what execd needs of a queue on a host. Requests take the place of the queue's limits.
func (c *Core) queueFor(q *grid.CQueue, host string, hard grid.Requests) report.Queue {
	h := c.settingsOf(host)
	r := h.queues[q.Name]
	if r == nil {
		r = c.resolved(q, host)
		h.queues[q.Name] = r
	}
	own := *r
	for i := range hard {
		if limit := limitOf(&own, hard[i].Name); limit != nil {
			*limit = min(*limit, hard[i].Num)
		}
	}
	return own
}

// queueOf is what execd needs of a queue for a started task on a host, with the limits that the task wants.
func (c *Core) queueOf(t *grid.JATask, j *grid.Job, q *grid.CQueue, host string) report.Queue {
	wanted := t.Wanted(j)
	queue := c.queueFor(q, host, wanted)
	c.perHostLimits(&queue, wanted, t.Grants, host)
	return queue
}

// perHostLimits turns limits that execd multiplies by the slots on the host, of attributes that are
// consumed once per host, into a part for each slot.
func (c *Core) perHostLimits(q *report.Queue, hard grid.Requests, grants []grid.Grant, host string) {
	slots := 0.0
	for _, g := range grants {
		if g.Host == host {
			slots += float64(g.Slots)
		}
	}
	for i := range hard {
		r := &hard[i]
		limit := limitOf(q, r.Name)
		if limit == nil || *limit != r.Num || !perSlot.Has(r.Name) || c.state.Centry(r.Name).Consumable != "HOST" {
			continue
		}
		if *limit = r.Num / slots; *limit*slots < r.Num {
			*limit = math.Nextafter(*limit, grid.Infinity) // what execd has is not less than what was asked
		}
	}
}

// perSlot are the limits that hold for each slot of a job on a host, queue_conf(5).
var perSlot = grid.Names{"s_cpu", "h_cpu", "s_data", "h_data", "s_stack", "h_stack", "s_rss", "h_rss", "s_vmem", "h_vmem"}

// resolved is a queue as it is on a host.
func (c *Core) resolved(q *grid.CQueue, host string) *report.Queue {
	member := c.memberOf(host)
	limit := func(v float64, _ bool) float64 {
		if v == 0 || math.IsNaN(v) {
			return grid.Infinity // not set
		}
		return v
	}
	span := func(p grid.PerHost[grid.TimeText]) float64 { return limit(p.For(host, member).Seconds()) }
	size := func(p grid.PerHost[grid.MemText]) float64 { return limit(p.For(host, member).Bytes()) }
	method := func(p grid.PerHost[string]) string {
		if m := p.For(host, member); !strings.EqualFold(m, "none") {
			return m
		}
		return ""
	}
	pids := grid.Infinity
	for _, values := range []grid.Values{c.complexValues(grid.GlobalHost), c.complexValues(host), q.ComplexValues.For(host, member)} {
		text, _ := values.Get("h_pids")
		pids = min(pids, limit(grid.CentryType("INT").Parse(text)))
	}
	notify, _ := q.Notify.For(host, member).Seconds()
	return &report.Queue{
		Name: q.Name, Host: host,
		TmpDir: q.TmpDir.For(host, member), Shell: q.Shell.For(host, member), ShellStartMode: q.ShellStartMode.For(host, member),
		Prolog: method(q.Prolog), Epilog: method(q.Epilog), StarterMethod: method(q.StarterMethod),
		SuspendMethod: method(q.SuspendMethod), ResumeMethod: method(q.ResumeMethod), TerminateMethod: method(q.TerminateMethod),
		Notify: notify, Priority: q.Priority.For(host, member), Processors: q.Processors.For(host, member),
		SRT: span(q.SRT), HRT: span(q.HRT), SCPU: span(q.SCPU), HCPU: span(q.HCPU),
		SFSize: size(q.SFSize), HFSize: size(q.HFSize), SData: size(q.SData), HData: size(q.HData),
		SStack: size(q.SStack), HStack: size(q.HStack), SCore: size(q.SCore), HCore: size(q.HCore),
		SRSS: size(q.SRSS), HRSS: size(q.HRSS), SVMem: size(q.SVMem), HVMem: size(q.HVMem), HPids: pids,
	}
}

// complexValues are those of a host.
func (c *Core) complexValues(host string) grid.Values {
	if o := c.state.ExecHost(host); o != nil {
		return o.ComplexValues
	}
	return nil
}

// limitOf is the limit of a queue that a request lowers, nil for requests of
// anything else.
func limitOf(q *report.Queue, request string) *float64 {
	switch request {
	case "s_rt":
		return &q.SRT
	case "h_rt":
		return &q.HRT
	case "s_cpu":
		return &q.SCPU
	case "h_cpu":
		return &q.HCPU
	case "s_fsize":
		return &q.SFSize
	case "h_fsize":
		return &q.HFSize
	case "s_data":
		return &q.SData
	case "h_data":
		return &q.HData
	case "s_stack":
		return &q.SStack
	case "h_stack":
		return &q.HStack
	case "s_core":
		return &q.SCore
	case "h_core":
		return &q.HCore
	case "s_rss":
		return &q.SRSS
	case "h_rss":
		return &q.HRSS
	case "s_vmem":
		return &q.SVMem
	case "h_vmem":
		return &q.HVMem
	case "h_pids":
		return &q.HPids
	}
	return nil
}
