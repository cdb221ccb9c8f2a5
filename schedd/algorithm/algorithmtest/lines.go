package algorithmtest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// Do carries out a transcript's command, one line each:
//
//	complex NAME TYPE RELOP REQUESTABLE CONSUMABLE DEFAULT [URGENCY]
//	host NAME [processors=N] [complex_values=a=1,b=2] [user_lists= ...] [LOAD=VALUE ...]
//	load HOST LOAD=VALUE ... | silent HOST
//	hgroup @NAME HOST ...         userset NAME MEMBER ...
//	pe NAME slots=N allocation_rule=R [user_lists= xuser_lists= urgency_slots=]
//	queue NAME hosts=h1,@g [slots=4,[h1=2]] [seq_no= qtype= pe_list= ckpt_list= complex_values= load_thresholds= ...]
//	qstate QUEUE@HOST LETTERS     calendar NAME from=SECONDS to=SECONDS
//	quota SET [users= projects= pes= queues= hosts=] RESOURCE=LIMIT ...
//	sched [load_formula= ... any parameter of sched_conf(5), ALGORITHM.NAME=VALUE of its own]
//	conf [max_aj_instances= any parameter of sge_conf(5)]
//	user, project, department NAME [fshare= oticket=]   sharetree PATH=SHARES ...   usage USER[/PROJECT] cpu=SECONDS
//	submit ID [owner= p= t=1-5:2 tc= l= soft= q= softq= masterq= pe=mpi:2-4 now=y h=y R=y a=SECONDS hold_jid= P= ckpt= hold_tasks= dept= js= ot= dl=SECONDS ac=NAME=VALUE,... r=y ar= like=ID]
//	alter ID (as submit)   release ID   end ID.TASK   requeue ID.TASK   delete ID   after SECONDS
//	refuse ID.TASK (its next start)
func (c *Harness) Do(line string) error {
	words := strings.Fields(line)
	if len(words) == 0 || strings.HasPrefix(words[0], "#") {
		return nil
	}
	a := arguments{values: map[string]string{}}
	for _, w := range words[1:] {
		if k, v, ok := strings.Cut(w, "="); ok && k != "" && !strings.ContainsAny(k, "<>!") {
			a.values[k] = v
			a.order = append(a.order, k)
		} else {
			a.plain = append(a.plain, w)
		}
	}
	do, ok := commands[words[0]]
	if !ok {
		do, ok = policyCommands[words[0]]
	}
	if !ok {
		return fmt.Errorf("unknown command %q", words[0])
	}
	do(c, &a)
	return a.unused(words[0])
}

var commands = map[string]func(*Harness, *arguments){
	"complex": (*Harness).doComplex, "host": (*Harness).doHost, "load": (*Harness).doLoad, "silent": (*Harness).doSilent,
	"hgroup": (*Harness).doHGroup, "userset": (*Harness).doUserset, "pe": (*Harness).doPE, "queue": (*Harness).doQueue,
	"qstate": (*Harness).doQState, "sched": (*Harness).doSched, "submit": (*Harness).doSubmit, "alter": (*Harness).doAlter,
	"release": (*Harness).doRelease, "end": (*Harness).doEnd, "requeue": (*Harness).doRequeue,
	"refuse": (*Harness).doRefuse,
	"delete": (*Harness).doDelete,
	"after":  (*Harness).doAfter, "ckpt": (*Harness).doCkpt, "conf": (*Harness).doConf, "calendar": (*Harness).doCalendar,
	"quota": (*Harness).doQuota,
}

// arguments are the words of a line; what is not expected is an error.
type arguments struct {
	plain  []string
	values map[string]string
	order  []string
}

func (a *arguments) takeValue(key string) string {
	v := a.values[key]
	delete(a.values, key)
	return v
}

func (a *arguments) has(key string) bool { _, ok := a.values[key]; return ok }

func (a *arguments) number(key string, otherwise int) int {
	if v := a.takeValue(key); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			panic(fmt.Sprintf("%s=%s: %v", key, v, err))
		}
		return n
	}
	return otherwise
}

func (a *arguments) names(key string) grid.Names { return splitNames(a.takeValue(key)) }

func (a *arguments) unused(command string) error {
	for k := range a.values {
		return fmt.Errorf("%s: unknown argument %s", command, k)
	}
	return nil
}

func splitNames(s string) grid.Names {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func splitValues(s string) (out grid.Values) {
	for _, n := range splitNames(s) {
		k, v, _ := strings.Cut(n, "=")
		out = append(out, grid.Value{Name: k, Text: v})
	}
	return out
}

// rest takes all remaining key=value words, in order.
func (a *arguments) rest() (out grid.Values) {
	for _, k := range a.order {
		if v, ok := a.values[k]; ok {
			out = append(out, grid.Value{Name: k, Text: v})
			delete(a.values, k)
		}
	}
	return out
}

// version is the next version of an object that may exist already.
func version(old uint32) uint32 { return old + 1 }

func (c *Harness) set(o grid.Object) {
	if c.State.Get(o.Kind(), o.Key()) != nil {
		c.Apply(events.Mod(o))
	} else {
		c.Apply(events.Add(o))
	}
}

func (c *Harness) doComplex(a *arguments) {
	p := append(a.plain, "0")
	c.set(&grid.Centry{Name: p[0], Shortcut: p[0], Type: grid.CentryType(p[1]), Relop: grid.Relop(p[2]),
		Requestable: p[3], Consumable: p[4], Default: p[5], Urgency: p[6]})
}

func (c *Harness) doHost(a *arguments) {
	name := a.plain[0]
	h := &grid.ExecHost{Name: name, ComplexValues: splitValues(a.takeValue("complex_values")),
		LoadScaling: splitValues(a.takeValue("load_scaling")),
		UserLists:   a.names("user_lists"), XUserLists: a.names("xuser_lists"), Projects: a.names("projects"),
		XProjects: a.names("xprojects")}
	procs := a.number("processors", 1)
	c.set(h)
	if name != grid.GlobalHost {
		c.set(&grid.Load{Host: name, Processors: uint32(procs), Values: a.rest(), Reported: c.Now})
	}
}

func (c *Harness) doLoad(a *arguments) {
	l := grid.Load{Host: a.plain[0]}
	if old := c.State.Load(l.Host); old != nil {
		l = *old
	}
	l.Unheard, l.Reported = false, c.Now
	for _, v := range a.rest() {
		l.Values = l.Values.With(v.Name, v.Text)
	}
	c.set(&l)
}

func (c *Harness) doSilent(a *arguments) {
	l := *c.State.Load(a.plain[0])
	l.Unheard = true
	c.set(&l)
}

func (c *Harness) doHGroup(a *arguments) {
	c.set(&grid.HGroup{Name: a.plain[0], HostList: a.plain[1:]})
}

func (c *Harness) doUserset(a *arguments) {
	v := uint32(0)
	if old := c.State.Userset(a.plain[0]); old != nil {
		v = version(old.Version)
	}
	c.set(&grid.Userset{Name: a.plain[0], Type: "ACL", Entries: a.plain[1:], Version: v})
}

func (c *Harness) doPE(a *arguments) {
	c.set(&grid.PE{Name: a.plain[0], Slots: uint32(a.number("slots", 999)), AllocationRule: a.takeValue("allocation_rule"),
		UserLists: a.names("user_lists"), XUserLists: a.names("xuser_lists"), UrgencySlots: a.takeValue("urgency_slots")})
}

func (c *Harness) doCkpt(a *arguments) { c.set(&grid.Ckpt{Name: a.plain[0]}) }

// doCalendar closes queues for a while, in seconds since the beginning.
func (c *Harness) doCalendar(a *arguments) {
	c.set(&grid.Calendar{Name: a.plain[0], Closed: []grid.Window{{
		Start: Begin.Add(float64(a.number("from", 0))), End: Begin.Add(float64(a.number("to", 0)))}}})
}

// doQuota makes a set of one rule.
func (c *Harness) doQuota(a *arguments) {
	var words, limits []string
	for _, filter := range grid.QuotaWords {
		if v := a.takeValue(filter); v != "" {
			words = append(words, filter, v)
		}
	}
	for _, l := range a.rest() {
		limits = append(limits, l.Name+"="+l.Text)
	}
	words = append(words, "to", strings.Join(limits, ","))
	c.set(&grid.RQS{Name: a.plain[0], Enabled: true, Limits: grid.Names{strings.Join(words, " ")}})
}

func (c *Harness) doQueue(a *arguments) {
	q := &grid.CQueue{Name: a.plain[0], HostList: a.names("hosts"), Version: 1}
	if old := c.State.CQueue(q.Name); old != nil {
		q.Version = version(old.Version)
	}
	q.Slots = perHostInt(a.takeValue("slots"))
	q.SeqNo = perHostInt(a.takeValue("seq_no"))
	q.QType.Value = grid.Names{"BATCH", "INTERACTIVE"}
	if a.has("qtype") {
		q.QType.Value = a.names("qtype")
	}
	q.PEList.Value, q.CkptList.Value = a.names("pe_list"), a.names("ckpt_list")
	q.UserLists, q.XUserLists.Value = perHostName(a.names("user_lists")), a.names("xuser_lists")
	q.Projects.Value, q.XProjects.Value = a.names("projects"), a.names("xprojects")
	q.ComplexValues.Value = splitValues(a.takeValue("complex_values"))
	q.LoadThresholds.Value = splitValues(a.takeValue("load_thresholds"))
	q.SuspendThresholds.Value = splitValues(a.takeValue("suspend_thresholds"))
	q.Calendar.Value = a.takeValue("calendar")
	q.NSuspend.Value = int32(a.number("nsuspend", 1))
	q.SuspendInterval.Value = grid.TimeText(a.takeValue("suspend_interval"))
	for _, t := range []*grid.PerHost[grid.TimeText]{&q.SRT, &q.HRT, &q.SCPU, &q.HCPU} {
		t.Value = "INFINITY"
	}
	for _, m := range []*grid.PerHost[grid.MemText]{&q.SVMem, &q.HVMem, &q.HRSS, &q.SRSS, &q.HData, &q.SData, &q.HFSize,
		&q.SFSize, &q.HCore, &q.SCore, &q.HStack, &q.SStack} {
		m.Value = "INFINITY"
	}
	if t := a.takeValue("h_rt"); t != "" {
		q.HRT.Value = grid.TimeText(t)
	}
	es := []events.Event{events.Mod(q)}
	for _, h := range c.State.Hosts(q.HostList) {
		if c.State.QInstance(q.Name, h) == nil {
			es = append(es, events.Add(&grid.QInstance{Queue: q.Name, Host: h}))
		}
	}
	c.Apply(es...)
}

// perHostInt reads 4,[h1=2],[@big=8].
func perHostInt(text string) (p grid.PerHost[int32]) {
	for i, part := range splitNames(text) {
		target, value, at := strings.Cut(strings.Trim(part, "[]"), "=")
		if !at {
			value = part
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			panic(err)
		}
		if i == 0 {
			p.Value = int32(n)
		} else {
			p.At = append(p.At, grid.At[int32]{Target: target, Value: int32(n)})
		}
	}
	if text == "" {
		p.Value = 1
	}
	return p
}

// perHostName reads names, and for a host in brackets the one that it has
// instead: a,b,[h1=c].
func perHostName(parts grid.Names) (p grid.PerHost[grid.Names]) {
	for _, part := range parts {
		if target, value, at := strings.Cut(strings.Trim(part, "[]"), "="); at {
			p.At = append(p.At, grid.At[grid.Names]{Target: target, Value: grid.Names{value}})
		} else {
			p.Value = append(p.Value, part)
		}
	}
	return p
}

func (c *Harness) doQState(a *arguments) {
	q := *c.State.Get(grid.KindQInstance, grid.Key{Name: a.plain[0]}).(*grid.QInstance)
	q.State = 0
	for _, l := range strings.Join(a.plain[1:], "") {
		q.State |= map[rune]grid.QueueState{'d': grid.QueueDisabled, 's': grid.QueueSuspended, 'E': grid.QueueError,
			'S': grid.QueueSuspendedSubordinate, 'D': grid.QueueCalDisabled, 'C': grid.QueueCalSuspended}[l]
	}
	c.set(&q)
}

func (c *Harness) doSched(a *arguments) {
	conf := &grid.SchedConf{Algorithm: c.Entry.Name, LoadFormula: "np_load_avg", QueueSortMethod: "load",
		LoadAdjustmentDecayTime: "0:7:30", WeightPriority: 1, WeightUrgency: 0.1, WeightTicket: 0.01,
		WeightDeadline: 3600000, WeightUser: 0.25, WeightProject: 0.25, WeightDepartment: 0.25, WeightJob: 0.25,
		CompensationFactor: 5, UsageWeightList: grid.Values{{Name: "cpu", Text: "1"}}, PolicyHierarchy: "OFS",
		ShareOverrideTickets: true, ShareFunctionalShares: true, MaxFunctionalJobsToSchedule: 200,
		ReportPJobTickets: true, MaxPendingTasksPerJob: 50}
	a.configure(conf)
	if params := a.section(c.Entry.Name); params != nil {
		conf.Sections = conf.WithSection(grid.Section{Algorithm: c.Entry.Name, Params: params})
	}
	c.set(conf)
}

// section takes the parameters of an algorithm's own: ALGORITHM.NAME=VALUE, with
// ~ for a space.
func (a *arguments) section(algorithm string) (params []grid.Param) {
	for _, k := range a.order {
		if name, ok := strings.CutPrefix(k, algorithm+"."); ok && a.has(k) {
			params = append(params, grid.Param{Name: name, Text: strings.ReplaceAll(a.takeValue(k), "~", " ")})
		}
	}
	return params
}

func (c *Harness) doConf(a *arguments) { c.set(&grid.Conf{Host: grid.GlobalConf, Entries: a.rest()}) }

func (c *Harness) doEnd(a *arguments)     { c.End(taskID(a.plain[0])) }
func (c *Harness) doRequeue(a *arguments) { c.Requeue(taskID(a.plain[0])) }
func (c *Harness) doRefuse(a *arguments)  { c.Refuse(taskID(a.plain[0])) }
func (c *Harness) doDelete(a *arguments) {
	job, _ := taskID(a.plain[0])
	c.Apply(events.Del(grid.KindJob, grid.Key{ID: job}))
}
func (c *Harness) doAfter(a *arguments) {
	n, err := strconv.ParseFloat(a.plain[0], 64)
	if err != nil {
		panic(err)
	}
	c.Now = c.Now.Add(n)
}

func taskID(text string) (job, task uint32) {
	j, t, _ := strings.Cut(text, ".")
	n, _ := strconv.ParseUint(j, 10, 32)
	k, err := strconv.ParseUint(t, 10, 32)
	if err != nil {
		k = 1
	}
	return uint32(n), uint32(k)
}
