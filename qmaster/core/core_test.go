package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// TestCore runs the transcripts in testdata: a command is one input, and
// what must happen is printed: answers, events, commands.
func TestCore(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		h := &harness{t: t, now: 1_700_000_000_000}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			h.t = t
			out := h.run(d)
			h.checkReplay()
			h.checkSettings()
			return out
		})
	})
}

var testFormat = Format{Body: codec.DecodeBody, AppendReply: codec.AppendReply, Reply: codec.DecodeReply}

// harness is one core, the lists it made, and a state that was built from the
// lists alone.
type harness struct {
	t      *testing.T
	core   *Core
	replay *state.State
	lists  []events.List
	now    grid.Time
	ref    uint64

	follows map[string]uint64 // fingerprints of the configurations that hosts were sent
	sent    map[string]uint64 // numbers of the last commands, by host
}

func (h *harness) run(d *datadriven.TestData) string {
	switch d.Cmd {
	case "cell":
		return h.cell(d)
	case "wait":
		seconds, _ := strconv.ParseFloat(d.CmdArgs[0].Key, 64)
		h.now = h.now.Add(seconds)
		if d.HasArg("notick") {
			return ""
		}
		return h.step(Tick{})
	case "submit":
		in := h.request(d, "qsub", &gdi.Submit{Job: h.job(d)})
		d.MaybeScanArgs(h.t, "number", &in.Job)
		return h.step(in)
	case "qresub":
		b := &gdi.Resubmit{}
		d.ScanArgs(h.t, "job", &b.Job)
		d.MaybeScanArgs(h.t, "hold", &b.Hold)
		return h.step(h.request(d, "qresub", b))
	case "set-aside": // a job number
		return fmt.Sprintln(h.core.SetAside())
	case "qdel":
		return h.step(h.request(d, "qdel", &gdi.DeleteJobs{Jobs: selection(d), Force: d.HasArg("f")}))
	case "qalter":
		return h.step(h.request(d, "qalter", h.alter(d)))
	case "qmod":
		b := &gdi.Control{Force: d.HasArg("f"), Queues: d.HasArg("queues")}
		d.ScanArgs(h.t, "action", &b.Action)
		b.Refs = strings.Split(d.Input, "\n")
		return h.step(h.request(d, "qmod", b))
	case "qconf":
		return h.qconf(d)
	case "await":
		var id uint32
		d.ScanArgs(h.t, "job", &id)
		until := "ended"
		d.MaybeScanArgs(h.t, "until", &until)
		return h.step(h.request(d, "qsub", &gdi.Wait{Job: id, For: until}))
	case "output":
		b := &gdi.Output{Stderr: d.HasArg("err")}
		d.ScanArgs(h.t, "job", &b.Job)
		d.MaybeScanArgs(h.t, "task", &b.Task)
		d.MaybeScanArgs(h.t, "tail", &b.Tail)
		d.MaybeScanArgs(h.t, "offset", &b.Offset)
		return h.step(h.request(d, "quill output", b))
	case "orders":
		return h.orders(d)
	case "qrsh":
		return h.qrsh(d)
	case "awaittask":
		return h.awaitTask(d)
	case "gone": // the clients of the last requests have
		var last uint64
		d.ScanArgs(h.t, "last", &last)
		var refs []uint64
		for ref := h.ref - last + 1; ref <= h.ref; ref++ {
			refs = append(refs, ref)
		}
		return h.step(Gone{Refs: refs})
	case "undelivered": // the last command, to a host that is not connected
		return h.step(Undelivered{Host: d.CmdArgs[0].Key, Number: h.sent[d.CmdArgs[0].Key]})
	case "report":
		return h.report(d)
	case "registered": // another scheduler has
		var name string
		d.ScanArgs(h.t, "by", &name)
		return h.step(Scheduler{Name: name})
	case "restart":
		seconds := 0
		d.MaybeScanArgs(h.t, "after", &seconds)
		h.now = h.now.Add(float64(seconds))
		h.core = New(h.replay.Copy(), h.core.epoch+1, testAlgorithms...)
		h.core.Reads(testFormat)
		h.core.On("m")
		h.core.Step(h.now, Scheduler{Name: "schedd"})
		return ""
	case "restore": // from a backup up to a list, after so many seconds
		return h.restore(d)
	case "recall": // the log is read, from its begin on
		ends := NewEnds(state.New())
		for _, l := range h.lists {
			ends.Apply(l)
		}
		return h.step(Recalled{ends})
	case "portions": // of requests about many jobs
		var events int
		d.ScanArgs(h.t, "events", &events)
		h.core.Portions(events)
		return ""
	case "continue":
		return h.step(Continue{})
	case "failures": // of all attempts so far, with their reasons
		return h.failures()
	case "jobs":
		return h.jobs()
	case "policy":
		return h.policy(d)
	case "sharetree":
		return h.sharetree(d)
	case "booked":
		return h.booked()
	case "priorities":
		return h.priorities()
	case "reservations":
		return h.reservations()
	case "qrsub":
		return h.qrsub(d)
	case "qrdel":
		return h.qrdel(d)
	case "qrstat":
		return h.qrstat()
	case "token":
		return h.token(d)
	case "login":
		return h.logIn(d)
	case "ways":
		return h.ways(d)
	case "logins":
		return h.logins()
	case "tokens":
		return h.tokens()
	case "decide":
		return h.decide(d)
	case "proposals":
		return h.proposals()
	case "change":
		return h.change(d)
	case "set":
		return h.set(d)
	case "trigger":
		var out strings.Builder
		for _, line := range strings.Split(d.Input, "\n") {
			f := strings.Fields(line)
			out.WriteString(h.step(h.request(d, "qconf", &gdi.Trigger{Action: f[0], Hosts: f[1:]})))
		}
		return out.String()
	}
	h.t.Fatalf("unknown command %q", d.Cmd)
	return ""
}

func (h *harness) cell(d *datadriven.TestData) string {
	h.replay, h.lists, h.follows = state.New(), nil, map[string]uint64{}
	h.core = New(state.New(), 1, testAlgorithms...)
	h.core.Reads(testFormat)
	slots := int32(2)
	d.MaybeScanArgs(h.t, "slots", &slots)
	q := grid.DefaultCQueue("all.q")
	q.HostList = grid.Names{"@allhosts"}
	q.Slots.Value = slots
	q.PEList.Value = grid.Names{"mpi"}
	q.Rerun.Value = d.HasArg("rerun")
	group := &grid.HGroup{Name: "@allhosts"}
	pe := grid.DefaultPE("mpi")
	pe.Slots, pe.AllocationRule = 100, "$fill_up"
	for _, a := range d.CmdArgs {
		if a.Key == "pe" {
			pe.ControlSlaves, pe.AccountingSummary = slices.Contains(a.Vals, "control_slaves"),
				slices.Contains(a.Vals, "accounting_summary")
			pe.JobIsFirstTask = slices.Contains(a.Vals, "job_is_first_task")
		}
	}
	var hosts []grid.Object
	for _, a := range d.CmdArgs {
		if a.Key == "hosts" {
			for _, n := range a.Vals {
				group.HostList = append(group.HostList, n)
				hosts = append(hosts, &grid.ExecHost{Name: n},
					&grid.Load{Host: n, Reported: h.now, Processors: 4, Values: grid.Values{{Name: "np_load_avg", Text: "0.1"}}})
			}
		}
	}
	objects := []grid.Object{&grid.Manager{Name: "root"}, &grid.Operator{Name: "oper"}, &grid.AdminHost{Name: "m"},
		&grid.SubmitHost{Name: "m"},
		grid.DefaultConf(), grid.DefaultSchedConf()}
	for _, e := range grid.DefaultCentries() {
		objects = append(objects, e)
	}
	objects = append(append(objects, hosts...), group, pe, q)
	h.core.setCause("root@m", "install", "")
	h.core.ready = Ready{}
	for _, o := range objects {
		h.core.emit(events.Add(o))
	}
	h.core.syncInstances(q)
	h.keep(h.core.ready)
	h.core.On("m")
	h.step(Scheduler{Name: "schedd"})
	return fmt.Sprintf("seq %d: %d queue instances\n", h.core.state.Seq, h.core.state.Len(grid.KindQInstance))
}

// restore continues from the state of an earlier list, as a cell that was restored from a backup.
func (h *harness) restore(d *datadriven.TestData) string {
	var to uint64
	var skip uint32
	d.ScanArgs(h.t, "list", &to)
	d.ScanArgs(h.t, "skip", &skip)
	s := state.New()
	h.lists = slices.DeleteFunc(h.lists, func(l events.List) bool { return l.Seq > to })
	for _, l := range h.lists {
		s.Apply(l)
	}
	l := Restored(s, h.now, "root@m", skip)
	s.Apply(l)
	h.lists, h.replay = append(h.lists, l), s
	h.core = New(s.Copy(), h.core.epoch+1, testAlgorithms...)
	h.core.On("m")
	h.core.Step(h.now, Scheduler{Name: "schedd"})
	return events.Text(l)
}

func (h *harness) request(d *datadriven.TestData, command string, b gdi.Body) UserRequest {
	user, id, host := "alice", "", "m"
	d.MaybeScanArgs(h.t, "user", &user)
	d.MaybeScanArgs(h.t, "id", &id)
	d.MaybeScanArgs(h.t, "host", &host)
	var token uint32
	d.MaybeScanArgs(h.t, "with", &token)
	if d.HasArg("propose") {
		b = h.proposal(d, b)
	}
	h.ref++
	return UserRequest{Ref: h.ref, Request: gdi.Request{ID: id, User: user, Token: token, Group: "users", Host: host,
		Command: command, Body: b}}
}

// job reads the arguments that submit and qalter share.
func (h *harness) job(d *datadriven.TestData) *grid.Job {
	j := &grid.Job{JobRequest: &grid.JobRequest{}, Name: "sleep", Spec: &grid.JobSpec{Command: "sleep"}}
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "N":
			j.Name = unquoted(a.Vals[0])
		case "t":
			j.Array = true
			j.Tasks = h.ranges(a.Vals[0])[0]
		case "tc":
			j.Concurrency = uint32(h.number(a.Vals[0]))
		case "l":
			for _, v := range a.Vals {
				n, text, _ := strings.Cut(strings.ReplaceAll(v, ";", ","), ":")
				j.Hard = append(j.Hard, grid.Request{Name: n, Value: text})
			}
		case "q":
			j.HardQueues = a.Vals
		case "master_l", "slave_l":
			list := &j.MasterHard
			if a.Key == "slave_l" {
				list = &j.SlaveHard
			}
			for _, v := range a.Vals {
				n, text, _ := strings.Cut(v, ":")
				*list = append(*list, grid.Request{Name: n, Value: text})
			}
		case "slave_q":
			j.SlaveQueues = a.Vals
		case "masterq":
			j.MasterQueues = a.Vals
		case "A":
			j.Account = unquoted(a.Vals[0])
		case "soft":
			for _, v := range a.Vals {
				n, text, _ := strings.Cut(v, ":")
				j.Soft = append(j.Soft, grid.Request{Name: n, Value: text})
			}
		case "script":
			j.Spec.Script = []byte(unquoted(a.Vals[0]))
		case "v":
			for _, v := range a.Vals {
				n, text, _ := strings.Cut(v, ":")
				j.Spec.Env = append(j.Spec.Env, grid.Value{Name: n, Text: text})
			}
		case "e":
			j.Spec.Stderr = a.Vals
		case "pe":
			j.PE, j.PERange = a.Vals[0], h.ranges(a.Vals[1])
		case "binding": // parsed, or as a client could make it up
			var wrong string
			if j.Binding, wrong = grid.ParseBinding(a.Vals[0], strings.Join(a.Vals[1:], ",")); wrong != "" {
				j.Binding = &grid.Binding{Instance: a.Vals[0], Strategy: a.Vals[1]}
			}
		case "units": // amount, unit, type, filter
			j.Binding = &grid.Binding{Instance: grid.BindSet, Strategy: grid.BindPacked, Amount: uint32(h.number(a.Vals[0])),
				Unit: "C", Type: grid.BindSlot}
			for i, to := range []*string{&j.Binding.Unit, &j.Binding.Type, &j.Binding.Filter} {
				if i+1 < len(a.Vals) {
					*to = a.Vals[i+1]
				}
			}
		case "p":
			j.Priority = int16(h.number(a.Vals[0]))
		case "h":
			j.UserHold = grid.Ranges{{First: 1, Last: 1, Step: 1}}
		case "hold_jid":
			j.PredecessorReq = a.Vals
		case "hold_jid_ad":
			j.ArrayPredecessorReq = a.Vals
		case "r":
			j.Restart = grid.RestartNo
			if a.Vals[0] == "y" {
				j.Restart = grid.RestartYes
			}
		case "now":
			j.Immediate = true
		case "noerror":
			j.Spec.NoError = true
		case "w":
			j.Spec.Verify = a.Vals[0]
		case "P":
			j.Project = a.Vals[0]
		case "ar":
			j.AR = uint32(h.number(a.Vals[0]))
		case "js":
			j.JobShare = uint32(h.number(a.Vals[0]))
		case "ot":
			j.OverrideTickets = uint32(h.number(a.Vals[0]))
		case "dl":
			j.Deadline = h.now.Add(float64(h.number(a.Vals[0])))
		case "ckpt":
			j.Ckpt = a.Vals[0]
		case "c":
			j.CkptWhen = a.Vals[0]
		case "o":
			j.Spec.Stdout = a.Vals
		case "j":
			j.Spec.Merge = true
		case "connect":
			j.Spec.Connect = a.Vals[0]
		case "wd":
			j.Spec.Cwd = a.Vals[0]
		case "m":
			j.Spec.MailOptions = a.Vals[0]
		case "M":
			j.Spec.MailTo = a.Vals
		case "S":
			j.Spec.Shell = a.Vals
		case "shell-n":
			j.Binary, j.Spec.NoShell = true, true
		}
	}
	return j
}

// unquoted reads a text in Go's quotes, which may have any byte but a blank.
func unquoted(text string) string {
	if t, err := strconv.Unquote(text); err == nil {
		return t
	}
	return text
}

func (h *harness) number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

func (h *harness) ranges(s string) grid.Ranges {
	if s == "0" { // clients pass it on
		return grid.Ranges{{Step: 1}}
	}
	_, r, ok := cell.ParseTaskRef("1." + s)
	if !ok {
		h.t.Fatalf("range %q", s)
	}
	return r
}

func selection(d *datadriven.TestData) (s gdi.Jobs) {
	for _, f := range strings.Fields(d.Input) {
		if u, ok := strings.CutPrefix(f, "-u"); ok {
			s.Users = append(s.Users, u)
			continue
		}
		id, tasks, ok := cell.ParseTaskRef(f)
		ref := gdi.JobRef{ID: id, Tasks: tasks}
		if !ok {
			ref = gdi.JobRef{Name: f}
		}
		s.Refs = append(s.Refs, ref)
	}
	return s
}

func (h *harness) alter(d *datadriven.TestData) *gdi.Alter {
	b := &gdi.Alter{Jobs: selection(d), Job: h.job(d)}
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "user", "with", "propose", "reason", "life", "id":
		case "when-now":
			b.Now = true
		case "hold":
			b.HoldAdd = a.Vals[0]
		case "release":
			b.HoldRemove = a.Vals[0]
		default:
			b.Set = append(b.Set, a.Key)
		}
	}
	return b
}

// qconf adds, changes and removes a few kinds of objects by hand.
func (h *harness) qconf(d *datadriven.TestData) string {
	var out strings.Builder
	for _, line := range strings.Split(d.Input, "\n") {
		f := strings.Fields(line)
		var body gdi.Body
		switch f[0] {
		case "-ahgrp":
			body = &gdi.Add{Objects: []grid.Object{&grid.HGroup{Name: f[1], HostList: f[2:]}}}
		case "-mhgrp":
			body = &gdi.Modify{Objects: []grid.Object{&grid.HGroup{Name: f[1], HostList: f[2:]}}}
		case "-mhgrp-version":
			body = &gdi.Modify{Objects: []grid.Object{&grid.HGroup{Name: f[1], HostList: f[2:], Version: 99}}}
		case "-am":
			body = &gdi.Add{Objects: []grid.Object{&grid.Manager{Name: f[1]}}}
		case "-ao":
			body = &gdi.Add{Objects: []grid.Object{&grid.Operator{Name: f[1]}}}
		case "-aq":
			q := grid.DefaultCQueue(f[1])
			q.HostList, q.PEList.Value = f[2:], nil
			body = &gdi.Add{Objects: []grid.Object{q}}
		case "-ackpt":
			k := grid.DefaultCkpt(f[1])
			k.When = f[2]
			if len(f) > 3 {
				k.Signal = f[3]
			}
			body = &gdi.Add{Objects: []grid.Object{k}}
		case "-acal", "-mcal":
			cal := &grid.Calendar{Name: f[1], Year: "NONE", Week: strings.Join(f[2:], " ")}
			body = &gdi.Add{Objects: []grid.Object{cal}}
			if f[0] == "-mcal" {
				body = &gdi.Modify{Objects: []grid.Object{cal}}
			}
		case "-dcal":
			body = &gdi.Delete{Kind: grid.KindCalendar, Keys: []grid.Key{{Name: f[1]}}}
		case "-arqs":
			set := &grid.RQS{Name: f[1], Enabled: true}
			for _, rule := range strings.Split(strings.Join(f[2:], " "), "; ") {
				set.Limits = append(set.Limits, rule)
			}
			body = &gdi.Add{Objects: []grid.Object{set}}
		case "-drqs":
			body = &gdi.Delete{Kind: grid.KindRQS, Keys: []grid.Key{{Name: f[1]}}}
		case "-mq":
			body = h.alteredQueue(f[1], f[2], strings.Join(f[3:], " "))
		case "-ke":
			body = &gdi.Trigger{Action: "kill-execd", Hosts: f[1:]}
		case "-dq":
			body = &gdi.Delete{Kind: grid.KindCQueue, Keys: []grid.Key{{Name: f[1]}}}
		case "-dh":
			body = &gdi.Delete{Kind: grid.KindAdminHost, Keys: []grid.Key{{Name: f[1]}}}
		case "-ah":
			body = &gdi.Add{Objects: []grid.Object{&grid.AdminHost{Name: f[1]}}}
		case "-as":
			body = &gdi.Add{Objects: []grid.Object{&grid.SubmitHost{Name: f[1]}}}
		case "-muser":
			body = &gdi.Modify{Objects: []grid.Object{&grid.User{Name: f[1], DefaultProject: f[2]}}}
		case "-dm":
			body = &gdi.Delete{Kind: grid.KindManager, Keys: []grid.Key{{Name: f[1]}}}
		case "-de":
			body = &gdi.Delete{Kind: grid.KindExecHost, Keys: []grid.Key{{Name: f[1]}}}
		case "-dce":
			body = &gdi.Delete{Kind: grid.KindCentry, Keys: []grid.Key{{Name: f[1]}}}
		case "-dp":
			body = &gdi.Delete{Kind: grid.KindPE, Keys: []grid.Key{{Name: f[1]}}}
		case "-dhgrp":
			body = &gdi.Delete{Kind: grid.KindHGroup, Keys: []grid.Key{{Name: f[1]}}}
		case "-dsconf":
			body = &gdi.Delete{Kind: grid.KindSchedConf, Keys: []grid.Key{h.core.state.SchedConf().Key()}}
		case "-mconf":
			c := *h.core.state.Conf(grid.GlobalConf)
			c.Entries = c.Entries.With(f[1], strings.Join(f[2:], " "))
			c.Version = 0
			body = &gdi.Modify{Objects: []grid.Object{&c}}
		default:
			h.t.Fatalf("qconf %s", f[0])
		}
		out.WriteString(h.step(h.request(d, "qconf", body)))
	}
	return out.String()
}

// alteredQueue changes one attribute of a cluster queue.
func (h *harness) alteredQueue(name, attribute, text string) gdi.Body {
	o, err := conf.Set(h.core.state.CQueue(name), attribute, text)
	if err != nil {
		h.t.Fatalf("%s %s: %v", attribute, text, err)
	}
	q := *o.(*grid.CQueue)
	q.Version = 0
	return &gdi.Modify{Objects: []grid.Object{&q}}
}

func (h *harness) orders(d *datadriven.TestData) string {
	in := Orders{List: orders.List{Scheduler: "schedd", Algorithm: "default", Run: 1, At: h.now}}
	d.MaybeScanArgs(h.t, "from", &in.Scheduler)
	d.MaybeScanArgs(h.t, "algorithm", &in.Algorithm)
	for _, line := range strings.Split(d.Input, "\n") {
		f := strings.Fields(line)
		id, tasks, _ := cell.ParseTaskRef(f[1])
		switch f[0] {
		case "start":
			o := &orders.StartJob{Job: id, Task: tasks.First()}
			if j := h.core.state.Job(id); j != nil {
				o.JobVersion = j.Version
			}
			h.places(f[2:], &o.Grants, &o.PE, &o.JobVersion)
			for _, g := range o.Grants {
				v := uint32(0)
				if q := h.core.state.CQueue(g.Queue); q != nil {
					v = q.Version
				}
				o.QueueVersions = append(o.QueueVersions, v)
			}
			in.Orders = append(in.Orders, o)
		case "reserve":
			in.Orders = append(in.Orders, h.reservationOrder(f, id, tasks.First()))
		case "suspend":
			in.Orders = append(in.Orders, &orders.SuspendOnThreshold{Job: id, Task: tasks.First(), Queue: f[2]})
		case "unsuspend":
			if len(f) == 2 {
				in.Orders = append(in.Orders, &orders.Unsuspend{Job: id, Task: tasks.First()})
				break
			}
			in.Orders = append(in.Orders, &orders.UnsuspendOnThreshold{Job: id, Task: tasks.First(), Queue: f[2]})
		case "preempt":
			in.Orders = append(in.Orders, &orders.Preempt{Job: id, Task: tasks.First(), Suspend: len(f) > 2})
		case "tickets", "ptickets", "priority_range", "clear_pri_info", "sched_conf":
			in.Orders = append(in.Orders, h.priorityOrder(f, id, tasks.First()))
		case "remove_immediate":
			in.Orders = append(in.Orders, &orders.RemoveImmediateJob{Job: id})
		default:
			h.t.Fatalf("order %s", f[0])
		}
	}
	return h.step(in)
}

// places reads QUEUE@HOST=SLOTS, pe=PE and version=N, where the order does not have the job's.
func (h *harness) places(words []string, grants *[]grid.Grant, pe *string, version *uint32) {
	for _, g := range words {
		name, n, _ := strings.Cut(g, "=")
		switch name {
		case "pe":
			*pe = n
			continue
		case "version":
			*version = uint32(h.number(n))
			continue
		}
		queue, host, _ := strings.Cut(name, "@")
		slots := uint32(1)
		if n != "" {
			slots = uint32(h.number(n))
		}
		*grants = append(*grants, grid.Grant{Queue: queue, Host: host, Slots: slots})
	}
}

func (h *harness) report(d *datadriven.TestData) string {
	in := Report{Report: report.Report{Host: d.CmdArgs[0].Key, Hello: d.HasArg("hello"), Leaving: d.HasArg("leaving")}}
	if in.Conf = h.follows[in.Host]; d.HasArg("unconfigured") {
		in.Conf = 0
	}
	for _, line := range strings.Split(d.Input, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if f[0] == "load" {
			n, v, _ := strings.Cut(strings.Join(f[1:], " "), "=")
			in.Load = &report.Load{Values: grid.Values{{Name: n, Text: v}}, Processors: 4}
			continue
		}
		attempt, petask, _ := strings.Cut(f[1], ":")
		p := strings.Split(attempt, ".")
		task := report.Task{Attempt: report.Attempt{Job: uint32(h.number(p[0])), Task: uint32(h.number(p[1])),
			N: uint32(h.number(p[2])), PETask: petask}}
		switch f[0] {
		case "running", "suspended":
			task.Phase, task.Suspended = report.Running, f[0] == "suspended"
			task.Usage = h.usage(f[2:])
			for _, word := range f[2:] {
				switch n, v, _ := strings.Cut(word, "="); n {
				case "began": // so many seconds ago
					task.Start = h.now.Add(-float64(h.number(v)))
				case "limits":
					task.Limits = uint32(h.number(v))
				case "refused": // VERSION:words_in_one
					version, why, _ := strings.Cut(v, ":")
					task.Refused, task.RefusedText = uint32(h.number(version)), strings.ReplaceAll(why, "_", " ")
				}
			}
			if text, ok := strings.CutPrefix(f[len(f)-1], "bound="); ok {
				task.Binding = text
			}
		case "ended":
			task.Phase = report.Ended
			task.Usage = grid.Usage{CPU: 1}
			if u := h.usage(f[2:]); u != (grid.Usage{}) {
				task.Usage = u
			}
			task.Result = &report.Result{Start: h.now.Add(-1), End: h.now}
			for _, a := range f[2:] {
				n, v, _ := strings.Cut(a, "=")
				switch n {
				case "exit":
					task.Result.ExitStatus = uint32(h.number(v))
				case "failed":
					task.Result.Failed = report.Failure(h.number(v))
				case "signal":
					task.Result.Signal = uint32(h.number(v))
				}
			}
		}
		in.Tasks = append(in.Tasks, task)
	}
	return h.step(in)
}

// step runs one input and prints everything that must happen.
func (h *harness) step(in Input) string {
	r := h.core.Step(h.now, in)
	h.keep(r)
	var b strings.Builder
	for _, a := range r.Answers {
		switch {
		case a.Reply != nil:
			for _, l := range a.Reply.Answers {
				status := ""
				if l.Status != gdi.StatusOK {
					status = fmt.Sprintf("[%d] ", l.Status)
				}
				fmt.Fprintf(&b, "%s%s%s\n", status, l.Text, a.Reply.PETask)
				if l.Hint != "" {
					fmt.Fprintf(&b, "hint: %s\n", l.Hint)
				}
			}
			for _, rec := range a.Reply.Records {
				fmt.Fprintf(&b, "record %d.%d exit=%d failed=%d\n", rec.Job, rec.Task, rec.ExitStatus, rec.Failed)
			}
		case a.Result != nil:
			for _, x := range a.Result.Refused {
				fmt.Fprintf(&b, "refused %d %s: %s\n", x.Index, x.Code, x.Reason)
			}
		case a.Receipt != nil:
			if len(a.Receipt.Have)+len(a.Receipt.Drop) > 0 {
				fmt.Fprintf(&b, "have %v drop %v\n", a.Receipt.Have, a.Receipt.Drop)
			}
		}
	}
	if len(r.List.Events) > 0 {
		b.WriteString(events.Text(r.List))
		if r.List.Cause.Token != 0 || r.List.Cause.Proposal != 0 || r.List.Cause.What == "log-in" {
			fmt.Fprintf(&b, "cause: %s\n", r.List.Cause)
		}
	}
	for _, m := range r.Mails {
		for _, to := range m.To {
			fmt.Fprintf(&b, "mail to %s: %s\n", to, m.Subject)
		}
	}
	for _, f := range r.Forgotten {
		fmt.Fprintf(&b, "forgotten on %s: %s: %s\n", f.Host, f.Attempt, f.Fate)
	}
	if r.Recall {
		b.WriteString("read the log\n")
	}
	if r.More {
		b.WriteString("more\n")
	}
	for _, x := range r.Reads {
		f := x.Files
		fmt.Fprintf(&b,
			"%s: read %d.%d of %s, running=%t stderr=%t offset=%d tail=%d array=%t name=%s cwd=%s stdout=%v stderr=%v\n", x.Host,
			f.Job, x.Task, f.Owner,
			x.Running, x.Stderr, x.Offset, x.Tail, f.Array, f.Name, f.Cwd, f.Stdout, f.Stderr)
	}
	for _, c := range r.Commands {
		if h.sent == nil {
			h.sent = map[string]uint64{}
		}
		h.sent[c.Host] = c.Number
		if cmp.Equal(c.Command, report.Command{Epoch: c.Epoch}) {
			fmt.Fprintf(&b, "%s: epoch\n", c.Host)
		}
		if c.Conf != nil {
			fmt.Fprintf(&b, "%s: conf\n", c.Host)
			h.follows[c.Host] = report.Fingerprint(c.Conf)
		}
		for _, d := range c.Deliver {
			fmt.Fprintf(&b, "%s: deliver %s", c.Host, d.Attempt)
			if limit := c.Queues[d.Queue].HRT; limit < grid.Infinity {
				fmt.Fprintf(&b, " h_rt=%g", limit)
			}
			if limit := c.Queues[d.Queue].HPids; limit < grid.Infinity {
				fmt.Fprintf(&b, " h_pids=%g", limit)
			}
			if d.Launch != nil {
				fmt.Fprintf(&b, " %q in %s", d.Launch.Args, c.Queues[d.Queue].Name+"@"+c.Queues[d.Queue].Host)
			}
			if d.Limits > 0 {
				fmt.Fprintf(&b, " limits=%d", d.Limits)
			}
			if len(d.Maps) > 0 {
				b.WriteString(" " + grid.MapText(d.Maps))
			}
			if len(d.Taken) > 0 {
				b.WriteString(" taken " + d.Taken.Text())
			}
			if d.Cores != "" {
				b.WriteString(" cores " + d.Cores)
			}
			for _, f := range d.Devices {
				access := f.Access.String()
				if access == "" {
					access = "closed"
				}
				fmt.Fprintf(&b, " %s:%s", f.Path, access)
			}
			b.WriteByte('\n')
		}
		for _, l := range c.Limits {
			q := c.Queues[l.Queue]
			fmt.Fprintf(&b, "%s: limits %s version=%d slots=%d changed=%v", c.Host, l.Attempt, l.Version, l.Slots, l.Changed)
			for _, name := range grid.RunningLimits {
				if v := *cell.LimitOf(&q, name); v < grid.Infinity {
					fmt.Fprintf(&b, " %s=%g", name, v)
				}
			}
			if l.Anyway {
				b.WriteString(" anyway")
			}
			b.WriteByte('\n')
		}
		for _, s := range c.Signals {
			fmt.Fprintf(&b, "%s: %s %s\n", c.Host, [...]string{"?", "suspend", "resume", "terminate", "reschedule",
				"migrate"}[s.Kind], s.Attempt)
		}
	}
	return b.String()
}

func (h *harness) keep(r Ready) {
	if len(r.List.Events) > 0 {
		h.replay.Apply(r.List)
		h.lists = append(h.lists, r.List)
	}
}

// failures lists the failed attempts that were accounted, with what accounting says of them.
func (h *harness) failures() string {
	var b strings.Builder
	for _, l := range h.lists {
		for _, e := range l.Events {
			if a, ok := e.Object.(*grid.Accounting); ok && a.Failed != 0 {
				fmt.Fprintf(&b, "%d.%d %s failed %d: %s\n", a.Job, a.Task, a.PETask, a.Failed, a.FailedText)
			}
		}
	}
	return b.String()
}

// checkReplay holds the law that a state built from the lists equals the live
// one.
func (h *harness) checkReplay() {
	full := func(s *state.State) (out []events.Event) {
		s.Full(func(e events.Event) bool { out = append(out, e); return true })
		return out
	}
	if diff := cmp.Diff(full(h.core.state), full(h.replay)); diff != "" {
		h.t.Fatalf("replay differs from the live state:\n%s", diff)
	}
}

// jobs prints what is there.
func (h *harness) jobs() string {
	var b strings.Builder
	h.core.state.Each(grid.KindJob, func(o grid.Object) bool {
		j := o.(*grid.Job)
		fmt.Fprintf(&b, "%d %s pending=%s", j.ID, j.Name, j.Pending)
		for _, p := range []struct {
			n string
			r grid.Ranges
		}{{"u", j.UserHold}, {"o", j.OperHold}, {"s", j.SysHold}, {"a", j.ArrayHold}} {
			if len(p.r) > 0 {
				fmt.Fprintf(&b, " hold_%s=%s", p.n, p.r)
			}
		}
		if len(j.Predecessors) > 0 {
			fmt.Fprintf(&b, " after=%v", j.Predecessors)
		}
		b.WriteByte('\n')
		for _, t := range h.core.state.Tasks(j.ID) {
			d := grid.Display{Status: t.Status, State: t.State, Hold: j.Held(t.ID), Restarted: t.Restarted}
			fmt.Fprintf(&b, "  %d.%d %s attempt=%d\n", t.Job, t.ID, d.Letters(), t.Attempt)
		}
		return true
	})
	return b.String()
}

// change is one request of lines: delete KIND NAME, and add and modify of a
// centry (a line of qconf -mc), an rqs (its name and rule) or another kind (its name,
// and an attribute with its value).
func (h *harness) change(d *datadriven.TestData) string {
	body := &gdi.Change{}
	for _, line := range strings.Split(d.Input, "\n") {
		f := strings.SplitN(line, " ", 4)
		verb, kind := f[0], h.kind(f[1])
		var o grid.Object
		switch {
		case verb == "delete":
			body.Delete.Kind = kind
			body.Delete.Keys = append(body.Delete.Keys, grid.Key{Name: f[2]})
			continue
		case kind == grid.KindRQS:
			o = &grid.RQS{Name: f[2], Enabled: true, Limits: grid.Names{f[3]}}
		case kind != grid.KindCentry:
			if o = h.core.State().Get(kind, grid.Key{Name: f[2]}); o == nil {
				o = grid.Default(kind, f[2])
			}
			if len(f) < 4 {
				break
			}
			name, value, _ := strings.Cut(f[3], " ")
			var err error
			if o, err = conf.Set(o, name, value); err != nil {
				h.t.Fatal(err)
			}
		default:
			list, err := conf.ParseCentries(strings.Join(f[2:], " "))
			if err != nil {
				h.t.Fatal(err)
			}
			o = list[0]
		}
		if verb == "add" {
			body.Add = append(body.Add, o)
		} else {
			body.Modify = append(body.Modify, o)
		}
	}
	return h.step(h.request(d, "qconf", body))
}

// kind finds a kind by its name in small letters.
func (h *harness) kind(name string) grid.Kind {
	for i := range grid.Kinds {
		if strings.EqualFold(grid.Kinds[i].Name, name) {
			return grid.Kinds[i].Kind
		}
	}
	h.t.Fatalf("there is no kind %q", name)
	return 0
}
