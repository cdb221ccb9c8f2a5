package reporting_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reporting"
	"github.com/quill-grid/quill/pkg/state"
)

// cell has two hosts with two queue instances, a licence and a share tree.
func cell() *state.State {
	st := state.New()
	queue := &grid.CQueue{Name: "all.q"}
	queue.Slots.Value = 4
	objects := []grid.Object{grid.DefaultConf(), grid.DefaultSchedConf(), queue,
		&grid.Centry{Name: "license", Shortcut: "lic", Type: "INT", Relop: "<=", Requestable: "YES",
			Consumable: "YES", Default: "0"},
		&grid.ExecHost{Name: grid.GlobalHost, ComplexValues: grid.Values{{Name: "license", Text: "5"}}},
		&grid.User{Name: "alice"}, &grid.Project{Name: "px"},
		&grid.Booking{User: "alice", At: 1000_000, Decayed: grid.Amounts{grid.UsageCPU: 2},
			LongTerm: grid.Amounts{grid.UsageCPU: 3}},
		&grid.ShareTree{Nodes: []grid.ShareNode{{ID: 0, Name: "Root", Shares: 1, Children: []uint32{1, 2}},
			{ID: 1, Name: "default", Shares: 10}, {ID: 2, Type: grid.ShareProject, Name: "px", Shares: 20}}}}
	for _, c := range grid.DefaultCentries() {
		objects = append(objects, c)
	}
	for _, host := range []string{"node1", "node2"} {
		objects = append(objects, &grid.ExecHost{Name: host}, &grid.QInstance{Queue: "all.q", Host: host},
			&grid.Load{Host: host})
	}
	l := events.List{Seq: 1, At: 1000_000}
	for _, o := range objects {
		l.Events = append(l.Events, events.Listed(o))
	}
	st.Apply(l)
	return st
}

// story is a test's cell and the file about it.
type story struct {
	state *state.State
	file  *reporting.Writer
	list  events.List
}

// TestTranscripts: what lists mean in lines. A command is a list: who caused it and
// by what; each line is an event.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		st := cell()
		s := &story{state: st, file: reporting.New(st, "master"), list: events.List{Seq: 1, At: 1000_000}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.list.Seq, s.list.Events = s.list.Seq+1, nil
			s.list.At += 1000
			s.list.Cause = events.Cause{Who: d.Cmd}
			for _, a := range d.CmdArgs {
				if a.Key == "after" {
					n, _ := strconv.Atoi(a.Vals[0])
					s.list.At += grid.Time(n-1) * 1000
				} else {
					s.list.Cause.What = a.Key
				}
			}
			for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
				if line == "" {
					continue
				}
				e, err := s.event(strings.Fields(line))
				if err != nil {
					t.Fatalf("%s: %s: %v", d.Pos, line, err)
				}
				s.list.Events = append(s.list.Events, e)
			}
			return string(s.file.Append(nil, s.list))
		})
	})
}

// event reads "job 7 name=x ...", "task 7.1 r all.q@node1=2", "-task 7.1" and so
// on: the object as it is after the event, or that it is gone.
func (s *story) event(words []string) (events.Event, error) {
	kind, gone := strings.CutPrefix(words[0], "-")
	name := words[1]
	id, sub := uint32(0), uint32(0)
	fmt.Sscanf(strings.Replace(name, ".", " ", 1), "%d %d", &id, &sub)
	if gone {
		return events.Del(map[string]grid.Kind{"job": grid.KindJob, "task": grid.KindJATask, "ar": grid.KindAR}[kind],
			grid.Key{ID: id, Sub: sub}), nil
	}
	op := events.Mod
	var o grid.Object
	var set func(key, text string) bool
	switch kind {
	case "conf":
		c := *s.state.Conf(grid.GlobalConf)
		c.Entries = c.Entries.With("reporting_params", strings.Join(words[1:], " "))
		return events.Mod(&c), nil
	case "host":
		h := *s.state.ExecHost(name)
		set = func(key, text string) bool {
			h.ReportVariables = strings.Split(text, ",")
			return key == "report_variables"
		}
		o = &h
	case "load":
		l := &grid.Load{Host: name}
		set = func(key, text string) bool {
			if l.Unheard = key == "unheard"; !l.Unheard {
				l.Values = append(l.Values, grid.Value{Name: key, Text: text})
			}
			return true
		}
		o = l
	case "queue":
		at, host, _ := strings.Cut(name, "@")
		q := &grid.QInstance{Queue: at, Host: host}
		set = func(key, _ string) bool {
			q.State |= map[string]grid.QueueState{"d": grid.QueueDisabled, "s": grid.QueueSuspended, "E": grid.QueueError}[key]
			return q.State != 0
		}
		o = q
	case "slots":
		q := *s.state.CQueue(name)
		for _, w := range words[2:] {
			q.Slots.At = append(q.Slots.At, grid.At[int32]{Target: w, Value: 2})
		}
		return events.Mod(&q), nil
	case "hgrp":
		return events.Mod(&grid.HGroup{Name: name, HostList: words[2:]}), nil
	case "job":
		j := &grid.Job{ID: id, Name: "sleeper", Owner: "alice", Group: "staff",
			Department: "defaultdepartment", Account: "sge",
			Submit: s.list.At, Pending: grid.Ranges{{First: 1, Last: 1, Step: 1}}, Spec: &grid.JobSpec{}}
		j.Ask()
		if old := s.state.Job(id); old != nil {
			*j = *old
		} else {
			op = events.Add
		}
		set = func(key, text string) bool {
			switch key {
			case "name":
				j.Name = text
			case "project":
				j.Project = text
			case "priority":
				n, _ := strconv.Atoi(text)
				j.Priority = int16(n)
			case "tasks":
				j.Array, j.Pending = true, ranges(text)
			case "pending":
				j.Pending = ranges(text)
			case "license":
				n, _ := strconv.ParseFloat(text, 64)
				j.Ask().Hard = grid.Requests{{Name: key, Value: text, Num: n}}
			default:
				return false
			}
			return true
		}
		o = j
	case "task":
		t := &grid.JATask{Job: id, ID: sub}
		if old := s.state.Task(id, sub); old != nil {
			*t = *old
		} else {
			op = events.Add
		}
		t.State = 0
		set = func(key, text string) bool {
			switch key {
			case "t":
				t.Status, t.Attempt = grid.Transfering, t.Attempt+1
			case "r":
				t.Status = grid.Running
			case "idle":
				t.Status, t.Grants, t.Kill = grid.Idle, nil, ""
			case "d":
				t.State |= grid.StateDeleted
			case "s":
				t.State |= grid.StateSuspended
			case "T":
				t.State |= grid.StateSuspendedThreshold
			case "E":
				t.State |= grid.StateError
			case "kill":
				t.Kill = text
			case "interim": // with so much CPU time
				n, _ := strconv.ParseFloat(text, 64)
				t.Usage = grid.Usage{CPU: n, WallSeconds: n + 10, MaxVMem: 7}
				t.Interim = grid.InterimOf(s.list.At, t.Usage)
			default:
				at, host, ok := strings.Cut(key, "@")
				n, _ := strconv.Atoi(text)
				t.Grants = append(t.Grants, grid.Grant{Queue: at, Host: host, Slots: uint32(n)})
				return ok
			}
			return true
		}
		o = t
	case "petask": // JOB.TASK ID@HOST
		peID, host, _ := strings.Cut(words[2], "@")
		p := &grid.PETask{Job: id, Task: sub, ID: peID, Host: host, Status: grid.Running, Start: s.list.At}
		if old := s.state.PETask(p.Key()); old != nil {
			*p = *old
		} else {
			op = events.Add
		}
		words = append(words[:2:2], words[3:]...)
		set = func(key, text string) bool {
			n, _ := strconv.ParseFloat(text, 64)
			p.Usage = grid.Usage{CPU: n}
			p.Interim = grid.InterimOf(s.list.At, p.Usage)
			return key == "interim"
		}
		o = p
	case "acct":
		j, t := s.state.Job(id), s.state.Task(id, sub)
		a := &grid.Accounting{Job: id, Task: sub, Array: j.Array, Queue: t.Grants[0].Queue, Host: t.Grants[0].Host,
			Group: j.Group, Owner: j.Owner,
			Name: j.Name, Account: j.Account, Submit: j.Submit, Start: j.Submit, End: s.list.At, Slots: t.Slots()}
		set = func(key, text string) bool {
			n, _ := strconv.Atoi(text)
			switch key {
			case "failed":
				a.Failed = uint32(n)
			case "exit":
				a.ExitStatus = uint32(n)
			case "again":
				a.Rescheduled = true
			case "unstarted":
				a.Start = 0
			case "petask":
				a.PETask = text
			case "cpu":
				a.Usage = grid.Usage{CPU: float64(n), WallSeconds: float64(n) + 20, MaxVMem: 9}
			default:
				return false
			}
			return true
		}
		o, op = a, events.Add
	case "ar":
		a := &grid.AR{ID: id, Name: "demo", Owner: "alice", Account: "sge", Submit: s.list.At, Start: 1600_000, End: 1700_000,
			State: grid.ARWaiting, Grants: []grid.Grant{{Queue: "all.q", Host: "node1", Slots: 2}}}
		if old := s.state.AR(id); old != nil {
			*a = *old
		} else {
			op = events.Add
		}
		set = func(key, text string) bool {
			switch key {
			case "state":
				a.State = grid.ARState(text)
			case "pe":
				a.GrantedPE = text
			case "license":
				a.Hard = grid.Requests{{Name: key, Value: text}}
			default:
				return false
			}
			return true
		}
		o = a
	default:
		return events.Event{}, fmt.Errorf("unknown kind %q", kind)
	}
	for _, w := range words[2:] {
		key, text, _ := strings.Cut(w, "=")
		if !set(key, text) {
			return events.Event{}, fmt.Errorf("unknown word %q", w)
		}
	}
	return op(o), nil
}

// ranges reads "1-3" or "none".
func ranges(text string) grid.Ranges {
	r := grid.Range{Step: 1}
	if n, _ := fmt.Sscanf(text, "%d-%d", &r.First, &r.Last); n < 2 {
		return nil
	}
	return grid.Ranges{r}
}

// BenchmarkJob is what the file costs for the whole life of a job: four lists.
func BenchmarkJob(b *testing.B) {
	for _, params := range []string{"reporting=true", "reporting=true,joblog=true",
		"reporting=true,joblog=true,log_consumables=true"} {
		b.Run(params, func(b *testing.B) {
			st := cell()
			s := &story{state: st, file: reporting.New(st, "master"), list: events.List{Seq: 1, At: 1000_000}}
			seq, buf := uint64(1), []byte(nil)
			tell := func(who, what string, es ...events.Event) {
				seq++
				buf = s.file.Append(
					buf[:0], events.List{Seq: seq, At: 1000_000, Cause: events.Cause{Who: who, What: what}, Events: es})
			}
			set, err := s.event([]string{"conf", params})
			if err != nil {
				b.Fatal(err)
			}
			tell("root@h1", "qconf", set)
			b.ReportAllocs()
			id, bytes := uint32(0), 0
			for b.Loop() {
				id++
				j := &grid.Job{ID: id, Name: "sleeper", Owner: "alice", Group: "staff", Account: "sge",
					Pending: grid.Ranges{{First: 1, Last: 1, Step: 1}}, Spec: &grid.JobSpec{}}
				j.Ask()
				sent := &grid.JATask{Job: id, ID: 1, Attempt: 1, Status: grid.Transfering,
					Grants: []grid.Grant{{Queue: "all.q", Host: "node1", Slots: 1}}}
				runs := *sent
				runs.Status = grid.Running
				bytes = 0
				tell("alice@h1", "qsub", events.Add(j))
				bytes += len(buf)
				tell("schedd", "orders", events.Add(sent))
				bytes += len(buf)
				tell("node1", "report", events.Mod(&runs))
				bytes += len(buf)
				tell("node1", "report", events.Add(&grid.Accounting{Job: id, Task: 1, Queue: "all.q", Host: "node1", Start: 1000}),
					events.Del(grid.KindJob, j.Key()))
				bytes += len(buf)
			}
			b.ReportMetric(float64(bytes), "bytes/job")
		})
	}
}
