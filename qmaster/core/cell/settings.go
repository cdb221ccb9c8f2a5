package cell

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

// ConfNames reads a list of sge_conf(5).
func ConfNames(text string) grid.Names {
	if strings.EqualFold(text, "none") {
		return nil
	}
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

// Param is a parameter of the global configuration, "" when none or NONE.
func (c *Cell) Param(name string) string { return c.Settings().text[name] }

// HasParam reports whether qmaster_params contains a word.
func (c *Cell) HasParam(word string) bool {
	return grid.ParamSet(c.Param("qmaster_params"), word)
}

// Number is a numeric parameter of the global configuration, 0 when not set.
func (c *Cell) Number(name string) uint32 { return c.Settings().number(name) }

// ConfFor is a host's effective configuration: the local one over the global.
func (c *Cell) ConfFor(host string) grid.Values {
	return c.Settings().global.Effective(c.State.Conf(host))
}

// MailsMax is how many recipients of mail a job or a reservation may have, unless the configuration says otherwise.
const MailsMax = 20

// Settings is what the configuration says of what happens with every job, read
// from its text once.
type Settings struct {
	global *grid.Conf
	text   map[string]string // its parameters; "" for NONE

	LeastUser, LeastGroup          uint32 // min_uid, min_gid
	MaxTasks, MaxUserJobs, MaxJobs uint32 // max_aj_tasks, max_u_jobs, max_jobs
	Users, Xusers                  grid.Names
	Projects, Xprojects            grid.Names
	NeedsProject, NeedsUser        bool    // enforce_project, enforce_user
	MakesUsers                     bool    // enforce_user auto
	reports                        bool    // reporting_params reporting
	MaxMails                       int     // qmaster_params MAX_MAIL_RECIPIENTS
	mayRestart, mayFail            bool    // not qmaster_params FORBID_RESCHEDULE, FORBID_APPERROR
	KeepsUsers                     float64 // auto_user_delete_time, seconds
	departments                    []*grid.Userset
	Usage                          shares.UsagePolicy
	Logins                         grid.Logins
	// of the scheduler's algorithm; nil: all are admitted
	Admit func(*grid.Job, grid.Resources) string
	Hosts map[string]*HostSettings
}

// HostSettings are those of a host, read when they are first asked for.
type HostSettings struct {
	Conf          uint64       // the fingerprint of what execd is to follow
	Silent        float64      // seconds without a sign of life after which the host is unheard; 0: never
	Again         float64      // reschedule_unknown
	ReservedUsage bool         // execd_params ACCT_RESERVED_USAGE
	ReservedShare bool         // execd_params SHARETREE_RESERVED_USAGE
	scaling       grid.Amounts // usage_scaling
	Queues        map[string]*report.QueueInstance
}

// FollowSettings takes note of an event: settings are read anew after one that may change them.
func (c *Cell) FollowSettings(e events.Event) {
	switch e.Kind {
	case grid.KindConf, grid.KindSchedConf, grid.KindUserset, grid.KindExecHost, grid.KindHGroup, grid.KindCQueue:
		c.ForgetSettings()
	}
}

// ForgetSettings has settings read anew.
func (c *Cell) ForgetSettings() { c.settings = nil }

// Settings are those of the newest configuration.
func (c *Cell) Settings() *Settings {
	if c.settings == nil {
		c.settings = c.NewSettings()
	}
	return c.settings
}

func (c *Cell) NewSettings() *Settings {
	s := &Settings{global: c.State.Conf(grid.GlobalConf), text: map[string]string{}, Hosts: map[string]*HostSettings{}}
	if s.global == nil {
		s.global = &grid.Conf{}
	}
	for _, e := range s.global.Effective(nil) {
		s.text[e.Name] = s.global.Get(e.Name)
	}
	s.LeastUser, s.LeastGroup = s.number("min_uid"), s.number("min_gid")
	s.MaxTasks, s.MaxUserJobs, s.MaxJobs = s.number("max_aj_tasks"), s.number("max_u_jobs"), s.number("max_jobs")
	s.Users, s.Xusers = ConfNames(s.text["user_lists"]), ConfNames(s.text["xuser_lists"])
	s.Projects, s.Xprojects = ConfNames(s.text["projects"]), ConfNames(s.text["xprojects"])
	s.NeedsProject = strings.EqualFold(s.text["enforce_project"], "true")
	s.NeedsUser, s.MakesUsers = strings.EqualFold(s.text["enforce_user"], "true"),
		strings.EqualFold(s.text["enforce_user"], "auto")
	wanted, _ := s.global.Reporting()
	s.reports = wanted.Reporting
	s.Logins, _ = s.global.Logins()
	forbids := func(word string) bool { return grid.ParamSet(s.text["qmaster_params"], word) }
	s.mayRestart, s.mayFail = !forbids("FORBID_RESCHEDULE"), !forbids("FORBID_APPERROR")
	s.MaxMails = MailsMax
	if text, given := grid.ParamIn(s.text["qmaster_params"], "MAX_MAIL_RECIPIENTS"); given {
		if n, err := strconv.Atoi(text); err == nil {
			s.MaxMails = n
		}
	}
	s.KeepsUsers = float64(s.number("auto_user_delete_time"))
	c.State.Each(grid.KindUserset, func(o grid.Object) bool {
		if u := o.(*grid.Userset); strings.Contains(u.Type, "DEPT") {
			s.departments = append(s.departments, u)
		}
		return true
	})
	conf := c.State.SchedConf()
	s.Usage, _ = shares.NewUsagePolicy(conf) // it was checked when it was set
	for _, a := range c.Algorithms {
		if a.Name == conf.Algorithm && a.Admission != nil {
			s.Admit = a.Admission(*conf)
		}
	}
	return s
}

// number is a numeric parameter of the global configuration, 0 when not set.
func (s *Settings) number(name string) uint32 {
	n, _ := strconv.ParseUint(s.text[name], 10, 32)
	return uint32(n)
}

// HostSettings are those of a host.
func (c *Cell) HostSettings(host string) *HostSettings {
	s := c.Settings()
	h := s.Hosts[host]
	if h == nil {
		h = c.NewHostSettings(host)
		s.Hosts[host] = h
	}
	return h
}

func (c *Cell) NewHostSettings(host string) *HostSettings {
	h := &HostSettings{Queues: map[string]*report.QueueInstance{}}
	conf := &grid.Conf{Entries: c.ConfFor(host)}
	h.Conf = report.Fingerprint(conf.Entries)
	seconds := func(name string) float64 {
		n, _ := grid.ParseTimeSpan(conf.Get(name))
		return n
	}
	h.Silent, h.Again = max(3*seconds("load_report_time"), seconds("max_unheard")), seconds("reschedule_unknown")
	has := func(word string) bool {
		text, given := conf.Param("execd_params", word)
		return given && (text == "1" || strings.EqualFold(text, "true") || strings.EqualFold(text, "yes"))
	}
	h.ReservedUsage, h.ReservedShare = has("ACCT_RESERVED_USAGE"), has("SHARETREE_RESERVED_USAGE")
	for i := range h.scaling {
		h.scaling[i] = 1
	}
	if o := c.State.ExecHost(host); o != nil {
		for _, v := range o.UsageScaling {
			if i := slices.Index(grid.UsageNames[:], v.Name); i >= 0 {
				factor, _ := strconv.ParseFloat(v.Text, 64)
				h.scaling[i] *= factor
			}
		}
	}
	return h
}

// QueueFor is what execd needs of a queue on a host. Requests take the place of the queue's limits.
func (c *Cell) QueueFor(q *grid.CQueue, host string, hard grid.Requests) report.QueueInstance {
	h := c.HostSettings(host)
	r := h.Queues[q.Name]
	if r == nil {
		r = c.Resolved(q, host)
		h.Queues[q.Name] = r
	}
	own := *r
	for i := range hard {
		if limit := LimitOf(&own, hard[i].Name); limit != nil {
			*limit = min(*limit, hard[i].Num)
		}
	}
	return own
}

// QueueOf is what execd needs of a queue for a started task on a host, with the limits that the task wants.
func (c *Cell) QueueOf(t *grid.JATask, j *grid.Job, q *grid.CQueue, host string) report.QueueInstance {
	wanted := t.Wanted(j)
	queue := c.QueueFor(q, host, wanted)
	c.perHostLimits(&queue, wanted, t.Grants, host)
	return queue
}

// perHostLimits turns limits that execd multiplies by the slots on the host, of attributes that are
// consumed once per host, into a part for each slot.
func (c *Cell) perHostLimits(q *report.QueueInstance, hard grid.Requests, grants []grid.Grant, host string) {
	slots := 0.0
	for _, g := range grants {
		if g.Host == host {
			slots += float64(g.Slots)
		}
	}
	for i := range hard {
		r := &hard[i]
		limit := LimitOf(q, r.Name)
		if limit == nil || *limit != r.Num || !perSlot.Has(r.Name) || c.State.Centry(r.Name).Consumable != "HOST" {
			continue
		}
		if *limit = r.Num / slots; *limit*slots < r.Num {
			*limit = math.Nextafter(*limit, grid.Infinity) // what execd has is not less than what was asked
		}
	}
}

// perSlot are the limits that hold for each slot of a job on a host, queue_conf(5).
var perSlot = grid.Names{"s_cpu", "h_cpu", "s_data", "h_data", "s_stack", "h_stack", "s_rss", "h_rss",
	"s_vmem", "h_vmem"}

// Resolved is a queue as it is on a host.
func (c *Cell) Resolved(q *grid.CQueue, host string) *report.QueueInstance {
	member := c.MemberOf(host)
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
	for _, values := range []grid.Values{c.complexValues(grid.GlobalHost), c.complexValues(host),
		q.ComplexValues.For(host, member)} {
		text, _ := values.Get("h_pids")
		pids = min(pids, limit(grid.CentryType("INT").Parse(text)))
	}
	notify, _ := q.Notify.For(host, member).Seconds()
	return &report.QueueInstance{
		Name: q.Name, Host: host,
		TmpDir: q.TmpDir.For(host, member), Shell: q.Shell.For(host, member),
		ShellStartMode: q.ShellStartMode.For(host, member),
		Prolog:         method(q.Prolog), Epilog: method(q.Epilog), StarterMethod: method(q.StarterMethod),
		SuspendMethod: method(q.SuspendMethod), ResumeMethod: method(q.ResumeMethod),
		TerminateMethod: method(q.TerminateMethod),
		Notify:          notify, Priority: q.Priority.For(host, member), Processors: q.Processors.For(host, member),
		SRT: span(q.SRT), HRT: span(q.HRT), SCPU: span(q.SCPU), HCPU: span(q.HCPU),
		SFSize: size(q.SFSize), HFSize: size(q.HFSize), SData: size(q.SData), HData: size(q.HData),
		SStack: size(q.SStack), HStack: size(q.HStack), SCore: size(q.SCore), HCore: size(q.HCore),
		SRSS: size(q.SRSS), HRSS: size(q.HRSS), SVMem: size(q.SVMem), HVMem: size(q.HVMem), HPids: pids,
	}
}

// complexValues are those of a host.
func (c *Cell) complexValues(host string) grid.Values {
	if o := c.State.ExecHost(host); o != nil {
		return o.ComplexValues
	}
	return nil
}

// LimitOf is the limit of a queue that a request lowers, nil for requests of
// anything else.
func LimitOf(q *report.QueueInstance, request string) *float64 {
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
