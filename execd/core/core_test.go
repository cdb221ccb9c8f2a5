package core

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// TestTranscripts plays inputs to a core and prints what must happen. A command
// may begin with "at=SECONDS".
//
//	new [topology=TEXT]
//	deliver [epoch=N] [script] [mail=bea] [binding=WISH] [cores=GRANTED] [slots=N] ATTEMPT...
//	signal [epoch=N] suspend|resume|terminate|reschedule|migrate ATTEMPT...
//	limits ATTEMPT=VERSION:h_rss[:anyway]...
//	changed ATTEMPT=VERSION[:REFUSED]...
//	forget ATTEMPT...
//	conf NAME=VALUE...
//	stop, kill
//	listed|seen ATTEMPT=taken|running|suspended|ended[:EXIT][@BINDING]...
//	answered ATTEMPT=taken|undone|refused...
//	shepherd-gone
//	sampled ATTEMPT=CPUSECONDS[:WALLSECONDS]...
//	receipt [epoch=N] [have=ATTEMPT] [drop=ATTEMPT]...
//	unanswered
//	restored [epoch=N] [note=ATTEMPT] [script=JOB]...
//	connected
//	tick
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/core", func(t *testing.T, path string) {
		c := New("node1", "i1", time.UTC, nil)
		now := grid.Time(1000)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "new" {
				var text string
				d.MaybeScanArgs(t, "topology", &text)
				c, now = New("node1", "i1", time.UTC, treeOf(text)), 1000
				return ""
			}
			for _, a := range d.CmdArgs {
				if a.Key == "at" {
					s, _ := strconv.ParseFloat(a.Vals[0], 64)
					now = grid.Time(s * 1000)
				}
			}
			in := input(t, d)
			return printed(c.Step(now, in), now)
		})
	})
}

func attemptArg(t *testing.T, s string) report.Attempt {
	var a report.Attempt
	s, a.PETask, _ = strings.Cut(s, ":")
	if n, err := fmt.Sscanf(s, "%d.%d.%d", &a.Job, &a.Task, &a.N); n != 3 {
		t.Fatalf("%q: %v", s, err)
	}
	return a
}

var stateWords = map[string]plan.State{"taken": plan.Starting, "running": plan.Running, "suspended": plan.Running,
	"ended": plan.Ended}

func input(t *testing.T, d *datadriven.TestData) Input {
	m := report.Command{Epoch: 1}
	var args []datadriven.CmdArg
	spec := &grid.JobSpec{SubmitHost: "submit"}
	binary, slots, cores := true, uint32(1), ""
	ask := &grid.JobRequest{}
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "at":
		case "epoch":
			m.Epoch, _ = strconv.ParseUint(a.Vals[0], 10, 64)
		case "mail":
			spec.MailOptions = a.Vals[0]
		case "binding":
			ask.Binding, _ = grid.ParseBinding(grid.BindSet, strings.Join(a.Vals, ","))
		case "cores":
			cores = a.Vals[0]
			ask.Binding = &grid.Binding{Instance: grid.BindSet, Strategy: grid.BindPacked, Amount: 1, Unit: "C",
				Type: grid.BindSlot}
		case "slots":
			n, _ := strconv.ParseUint(a.Vals[0], 10, 32)
			slots = uint32(n)
		case "script":
			if len(a.Vals) == 0 {
				binary = false
				continue
			}
			args = append(args, a)
		default:
			args = append(args, a)
		}
	}
	word := func(a datadriven.CmdArg) string { return strings.Join(a.Vals, ",") }
	var statuses []plan.Status
	switch d.Cmd {
	case "deliver":
		m.Queues = []report.QueueInstance{{Name: "all.q", Host: "node1"}}
		for _, a := range args {
			k := attemptArg(t, a.Key)
			d := report.Deliver{Attempt: k, Cores: cores, Grants: []grid.Grant{{Queue: "all.q", Host: "node2", Slots: 7},
				{Queue: "all.q", Host: "node1", Slots: slots}}}
			if k.PETask != "" {
				d.Launch = &grid.Launch{Args: []string{"hostname"}}
			}
			m.Deliver = append(m.Deliver, d)
			m.Jobs = append(m.Jobs, &grid.Job{JobRequest: ask, ID: k.Job, Name: "job", Owner: "alice",
				Binary: binary, Spec: spec})
		}
		return Commanded{m}
	case "signal":
		kinds := map[string]report.SignalKind{"suspend": report.Suspend, "resume": report.Resume,
			"terminate": report.Terminate, "reschedule": report.Reschedule, "migrate": report.Migrate}
		for _, a := range args[1:] {
			m.Signals = append(m.Signals, report.Signal{Attempt: attemptArg(t, a.Key), Kind: kinds[args[0].Key]})
		}
		return Commanded{m}
	case "limits":
		queue := report.QueueInstance{Name: "all.q", Host: "node1"}
		for _, limit := range []*float64{&queue.SRT, &queue.HRT, &queue.SCPU, &queue.HCPU, &queue.SFSize, &queue.HFSize,
			&queue.SData, &queue.HData,
			&queue.SStack, &queue.HStack, &queue.SCore, &queue.HCore, &queue.SRSS, &queue.HRSS, &queue.SVMem,
			&queue.HVMem, &queue.HPids} {
			*limit = grid.Infinity
		}
		queue.HRSS, queue.HRT, queue.HVMem = 1000, 60, 3000
		m.Queues = []report.QueueInstance{queue}
		for _, a := range args {
			f := strings.Split(word(a), ":")
			n, _ := strconv.ParseUint(f[0], 10, 32)
			m.Limits = append(m.Limits, report.LimitsChange{Attempt: attemptArg(t, a.Key), Version: uint32(n), Slots: 2,
				Changed: grid.Names{f[1]}, Anyway: len(f) > 2})
		}
		return Commanded{m}
	case "changed":
		var in Changed
		for _, a := range args {
			version, why, _ := strings.Cut(word(a), ":")
			n, _ := strconv.ParseUint(version, 10, 32)
			in.Answers = append(in.Answers, plan.Changed{Attempt: attemptArg(t, a.Key), Version: uint32(n), Refused: why})
		}
		return in
	case "forget":
		for _, a := range args {
			m.Forget = append(m.Forget, attemptArg(t, a.Key))
		}
		return Commanded{m}
	case "conf":
		for _, a := range args {
			m.Conf = append(m.Conf, grid.Value{Name: a.Key, Text: word(a)})
		}
		return Commanded{m}
	case "stop":
		m.Stop = true
		return Commanded{m}
	case "kill":
		m.Kill = true
		return Commanded{m}
	case "listed", "seen":
		for _, a := range args {
			what, binding, _ := strings.Cut(word(a), "@")
			what, limits, _ := strings.Cut(what, "/") // running/1: with a control group and these limits
			name, exit, _ := strings.Cut(what, ":")
			s := plan.Status{Attempt: attemptArg(t, a.Key), State: stateWords[name], Suspended: name == "suspended",
				Binding: binding}
			if n, err := strconv.ParseUint(limits, 10, 32); err == nil {
				s.Contained, s.Limits = true, uint32(n)
			}
			if s.State >= plan.Running {
				s.Start = 500
			}
			if s.State == plan.Ended {
				code, _ := strconv.ParseUint(exit, 10, 32)
				s.End = &plan.End{Result: report.Result{Start: 500, End: 900, ExitStatus: uint32(code)}}
			}
			statuses = append(statuses, s)
		}
		if d.Cmd == "listed" {
			return Listed{statuses}
		}
		return Seen{statuses}
	case "answered":
		var in Answered
		for _, a := range args {
			w := plan.Answer{Attempt: attemptArg(t, a.Key)}
			switch word(a) {
			case "taken":
				w.State = plan.Starting
			case "undone":
				w.State = plan.Wanted
			case "refused":
				w.Failed, w.Text = report.FailedOwner, "can't run as alice: execd runs as bob"
			}
			in.Answers = append(in.Answers, w)
		}
		return in
	case "shepherd-gone":
		return ShepherdGone{}
	case "sampled":
		in := Sampled{Load: &report.Load{Values: grid.Values{{Name: "load_avg", Text: "0.5"}}, Processors: 2}}
		for _, a := range args {
			used, time, _ := strings.Cut(word(a), ":")
			cpu, _ := strconv.ParseFloat(used, 64)
			wall, _ := strconv.ParseFloat(time, 64)
			in.Usage = append(
				in.Usage, plan.Used{Attempt: attemptArg(t, a.Key), Usage: grid.Usage{CPU: cpu, WallSeconds: max(wall, 1)}})
		}
		return in
	case "receipt":
		in := Received{report.Receipt{Epoch: m.Epoch}}
		for _, a := range args {
			switch a.Key {
			case "have":
				in.Receipt.Have = append(in.Receipt.Have, attemptArg(t, word(a)))
			case "drop":
				in.Receipt.Drop = append(in.Receipt.Drop, attemptArg(t, word(a)))
			}
		}
		return in
	case "unanswered":
		return Unanswered{}
	case "restored":
		var in Restored
		if d.HasArg("epoch") {
			in.Epoch = m.Epoch
		}
		for _, a := range args {
			switch a.Key {
			case "note":
				in.Notes = append(in.Notes, Note{Attempt: attemptArg(t, word(a)), Name: "job", Owner: "alice", Queue: "all.q@node1",
					Options: "ea", To: []string{"alice@submit"}})
			case "script":
				n, _ := strconv.ParseUint(word(a), 10, 32)
				in.Scripts = append(in.Scripts, uint32(n))
			}
		}
		return in
	case "connected":
		return Connected{}
	case "tick":
		return Tick{}
	}
	t.Fatalf("unknown command %q", d.Cmd)
	return nil
}

// following shows the configuration that a report names.
func following(m report.Report) string {
	if m.Conf == 0 {
		return ""
	}
	return fmt.Sprintf(" follows %04x", m.Conf&0xffff)
}

// printed shows what must happen, one thing a line.
func printed(r Ready, now grid.Time) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if r.Epoch != 0 {
		say("keep epoch %d", r.Epoch)
	}
	if r.Conf != nil {
		say("conf load_report_time=%v mailer=%s unsupported=%v", r.Conf.LoadReportTime, r.Conf.Mailer, r.Conf.Unsupported)
	}
	for _, j := range r.Scripts {
		say("spool script %d", j.ID)
	}
	for _, n := range r.Notes {
		say("note %v -m %s", n.Attempt, n.Options)
	}
	for _, s := range r.Start {
		line := fmt.Sprintf("start %v", s.Deliver.Attempt)
		if b := s.Binding; b != nil {
			line += " bound to " + b.Text
			for _, c := range b.Cores {
				line += fmt.Sprintf(" %v%v", c.CoreID, c.Processors)
			}
		}
		say("%s", line)
	}
	for _, s := range r.Signals {
		say("%s %v", [...]string{"", "suspend", "resume", "terminate", "reschedule", "migrate"}[s.Kind], s.Attempts)
	}
	for _, l := range r.Changes {
		g := l
		line := fmt.Sprintf("limits %v version=%d memory high %d max %d pids %d rt %v vmem %v", l.Attempt, l.Limits.Version,
			g.MemoryHigh, g.MemoryMax, g.PidsMax, l.Limits.RT, l.Limits.VMem)
		if l.Anyway {
			line += " anyway"
		}
		say("%s", line)
	}
	for _, k := range r.Forget {
		say("forget %v", k)
	}
	for _, k := range r.Drop {
		say("drop note %v", k)
	}
	for _, j := range r.Unspool {
		say("unspool script %d", j)
	}
	for _, m := range r.Mails {
		for _, to := range m.To {
			say("mail to=%s subject=%q", to, m.Subject)
		}
	}
	if m := r.Report; m != nil {
		hello := ""
		if m.Hello {
			hello = " hello"
		}
		say("report %d%s%s", m.Seq, hello, following(*m))
		if m.Load != nil {
			say("  load %v", m.Load.Values)
		}
		for _, t := range m.Tasks {
			switch {
			case t.Result != nil:
				say("  %v ended exit=%d failed=%d %s", t.Attempt, t.Result.ExitStatus, t.Result.Failed, t.Result.Text)
			default:
				binding := ""
				if t.Binding != "" {
					binding = " bound to " + t.Binding
				}
				phase := "running"
				if t.Suspended {
					phase = "suspended"
				}
				limits := ""
				if t.Limits > 0 {
					limits = fmt.Sprintf(" limits=%d", t.Limits)
				}
				if t.Refused > 0 {
					limits += fmt.Sprintf(" refused=%d: %s", t.Refused, t.RefusedText)
				}
				say("  %v %s cpu=%v%s%s", t.Attempt, phase, t.Usage.CPU, binding, limits)
			}
		}
	}
	for _, l := range r.Load {
		say("load %d of %s: %v%s", l.Seq, l.Host, l.Load.Values, following(l))
	}
	if r.Refused != 0 {
		say("refused epoch %d", r.Refused)
	}
	if r.Sample {
		say("sample")
	}
	if r.Stop {
		say("stop")
	}
	if r.Next != 0 && r.Next != now.Add(loadReportTime) {
		say("next tick at %v", float64(r.Next)/1000)
	}
	return b.String()
}
