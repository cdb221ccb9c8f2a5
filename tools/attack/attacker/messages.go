package attacker

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/madeup"
	"github.com/quill-grid/quill/pkg/report"
)

// madeUp sends each message of each subject as it should be and with each of its
// values changed: to the subjects of its own role, and to those of all others.
var madeUp = Attack{
	Name: "messages", Usage: "made-up messages to every subject: each value replaced, cut off, in excess",
	Roles: AsAnybody, Short: true, Run: sendMadeUp,
}

// message is bytes for a subject.
type message struct {
	subject string
	data    []byte
}

// answerMax is how long an answer to a made-up message is waited for.
const answerMax = 500 * time.Millisecond

func sendMadeUp(ctx context.Context, f *Field) error {
	base, err := f.messages()
	if err != nil {
		return err
	}
	for _, i := range f.dice.Perm(len(base)) {
		if err := f.sendAll(ctx, f.variants(base[i])); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// variantsMax is how many variants of one message are sent before the next one has
// its turn.
const variantsMax = 200

// variants are a message and some of those that it is changed into.
func (f *Field) variants(m message) []message {
	some := []message{m}
	if len(m.data) == 0 {
		return some
	}
	seen := 0
	madeup.Changes(m.data, func(_ string, b []byte) { // each has the same chance to be among them
		switch seen++; {
		case len(some) < variantsMax:
			some = append(some, message{m.subject, b})
		default:
			if i := f.dice.IntN(seen); i < variantsMax-1 {
				some[1+i] = message{m.subject, b}
			}
		}
	})
	return append(some, f.broken(m)...)
}

// sendAll sends messages on a few connections.
func (f *Field) sendAll(ctx context.Context, all []message) error {
	const at = 4
	return Workers(at, func(w int) error {
		var conn *bus.Conn
		defer func() {
			if conn != nil {
				conn.Close()
			}
		}()
		for i := w; i < len(all) && ctx.Err() == nil; i += at {
			if conn == nil {
				var err error
				if conn, err = f.connect(); err != nil {
					f.refused()
					f.pause(ctx, 50*time.Millisecond)
					continue
				}
			}
			asking, cancel := context.WithTimeout(ctx, answerMax)
			answer, err := conn.Request(asking, all[i].subject, all[i].data)
			cancel()
			f.count(err)
			f.search("answer at "+general(all[i].subject), answer)
			if errors.Is(err, bus.ErrLost) {
				conn.Close()
				conn = nil
			}
		}
		return nil
	})
}

// broken are messages that are none: cut off, with a byte of another value, with a
// length that has nothing after it.
func (f *Field) broken(m message) (out []message) {
	for range 20 {
		b := append([]byte(nil), m.data...)
		b[f.dice.IntN(len(b))] = byte(f.dice.IntN(256))
		out = append(out, message{m.subject, b}, message{m.subject, m.data[:f.dice.IntN(len(m.data))]})
	}
	for _, head := range []byte{0xc6, 0xdb, 0xdd, 0xdf} { // bytes, a text, an array, a map
		b := binary.BigEndian.AppendUint32([]byte{head}, 0xffffffff)
		at := f.dice.IntN(len(m.data))
		out = append(out, message{m.subject, b}, message{m.subject, append(append([]byte(nil), m.data[:at]...), b...)})
	}
	deep := bytes.Repeat([]byte{0x91}, 100_000) // an array of one array of one array ...
	return append(out, message{m.subject, deep})
}

// messages are well-formed messages for all subjects of the cell.
func (f *Field) messages() ([]message, error) {
	me, host := f.me(), f.Hosts[0]
	bodies, err := f.bodies(f.Jobs[0], "*")
	if err != nil {
		return nil, err
	}
	var out []message
	for _, b := range bodies {
		// The payload names the administrator, on the administrator's host, as the sender.
		r := gdi.Request{ID: fmt.Sprint("a", f.dice.Uint64()), User: "root", Group: "root", Host: host,
			Command: "qconf", Body: b}
		out = append(out, message{bus.CmdSubject(me, b.Verb()), codec.AppendRequest(nil, r)})
	}
	said := codec.AppendReport(nil, f.hostReport(host))
	orders := codec.AppendOrders(nil, f.orders(host))
	command := codec.AppendCommand(nil, f.command(host))
	out = append(out,
		message{bus.HostRepSubject(f.Name), said}, message{bus.LoadSubject(f.Name), said},
		message{bus.OrderSubject(me), orders},
		message{bus.RegSubject(me), nil}, message{"ge.ack." + me.Word() + ".1", nil})
	// Subjects of others.
	for _, id := range []bus.Identity{{Role: bus.User, Name: "root"}, {Role: bus.Admin, Name: "root"},
		{Role: bus.User, Name: f.Honest},
		{Role: bus.Scheduler, Name: "schedd"}, {Role: bus.Host, Name: host}} {
		out = append(out, message{bus.CmdSubject(id, "get"), out[0].data}, message{bus.RegSubject(id), nil},
			message{bus.OrderSubject(id), orders})
	}
	for _, subject := range []string{bus.HostRepSubject(host), bus.LoadSubject(host)} {
		out = append(out, message{subject, said})
	}
	for _, subject := range []string{bus.HostCmdSubject(host), bus.FeedSubject(), bus.EventsSubject(), "ge.serving",
		"ge.ev.1", "ge.debug.1", "ge.lease.x",
		"$JS.API.STREAM.INFO.GE_EVENTS", "$JS.API.STREAM.PURGE.GE_EVENTS", "$SYS.REQ.SERVER.PING"} {
		out = append(out, message{subject, command})
	}
	return out, nil
}

// everyAttribute are the switches of qalter whose values a request of bodies has.
var everyAttribute = []string{"N", "A", "a", "dl", "tc", "l", "q", "hold_jid", "cwd", "o", "e", "i", "S", "m", "M", "v",
	"sc", "ac", "args"}

// VerifiedAttributes are the names that jsv_allowed_mod of sge_conf(5) has for them: a job that a verifier has seen may
// be changed.
var VerifiedAttributes = []string{"N", "A", "a", "dl", "tc", "l_hard", "q_hard", "hold_jid", "cwd", "o", "e", "i", "S",
	"m", "M", "v", "ac", "CMDARGS", "h", "p"}

// bodies are requests of each kind, about a job and the jobs of a user.
func (f *Field) bodies(id uint32, user string) ([]gdi.Body, error) {
	job, err := f.job("-h", "-m", "a", "-binding", "linear:1", "-ac", "A=B", "-v", "A=B", "-l", "h_rt=100", "-q", "all.q",
		"-M", "a@b", "-hold_jid", "1", "-t", "1-3", "true")
	if err != nil {
		return nil, err
	}
	job.Spec.Script, job.Binary = []byte("#!/bin/sh\n"), false
	ask := job.Ask()
	ask.Soft = grid.Requests{{Name: "arch", Value: "lx-amd64"}}
	some := []grid.Object{
		&grid.Manager{Name: f.Name}, &grid.CQueue{Name: "all.q"}, &grid.PE{Name: "attack", Slots: 1},
		&grid.Ckpt{Name: "attack"},
		&grid.Calendar{Name: "attack"}, &grid.Userset{Name: "attack"}, &grid.Project{Name: "attack"},
		&grid.ExecHost{Name: f.Hosts[0]},
		&grid.HGroup{Name: "@attack"}, &grid.RQS{Name: "attack"}, &grid.Centry{Name: "attack"}, &grid.Conf{},
		&grid.SchedConf{}, &grid.ShareTree{}, job,
	}
	objects := func() (few []grid.Object) {
		for range 3 {
			few = append(few, some[f.dice.IntN(len(some))])
		}
		return few
	}
	jobs := gdi.Jobs{Refs: []gdi.JobRef{{ID: id}}, Users: grid.Names{user}}
	key := grid.Key{ID: 1, Name: "all.q"}
	return []gdi.Body{
		&gdi.Submit{Job: job}, &gdi.Verify{Job: job, Mode: "p"},
		&gdi.Alter{Jobs: jobs, Set: everyAttribute, Job: job, HoldAdd: "u"},
		&gdi.Add{Objects: objects()}, &gdi.Modify{Objects: objects()},
		&gdi.Delete{Kind: grid.KindCQueue, Keys: []grid.Key{key}},
		&gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: jobs.Refs}, Force: true}, &gdi.Resubmit{Job: id, Hold: "u"},
		&gdi.Control{Action: "disable", Queues: true, Refs: []string{"all.q"}},
		&gdi.Control{Action: "suspend", Refs: []string{fmt.Sprint(id)}},
		&gdi.Trigger{Action: "kill-qmaster", Hosts: grid.Names{"*"}, Force: true},
		&gdi.Wait{Job: f.Jobs[0], For: "ended", Task: 1},
		&gdi.Get{Kinds: []grid.Kind{grid.KindJob, grid.KindJATask},
			Where: gdi.Where{Keys: []grid.Key{key}, Names: grid.Names{"[*"}, Owners: grid.Names{"*"}, Why: true}},
		&gdi.Reserve{
			AR: &grid.AR{Duration: 100, Queues: grid.Names{"all.q"}, PERange: grid.Ranges{{First: 1, Last: 1, Step: 1}}}},
		&gdi.DeleteARs{Refs: grid.Names{"1"}, Users: grid.Names{user}},
		&gdi.History{From: gdi.Place{Seq: 1}, To: gdi.Place{Seq: 2}}, &gdi.Explain{Job: f.Jobs[0], Task: 1},
		&gdi.Output{Job: id, Task: 1}, &gdi.RevokeTokens{IDs: []uint32{1}},
		&gdi.Decide{Proposal: 1, Decision: gdi.Withdraw, Comment: "x"},
		&gdi.CreateToken{Scope: grid.ScopeRead, Seconds: 100, Comment: "x", Digest: []byte(strings.Repeat("d", 32))},
		&gdi.Propose{Changes: [][]byte{codec.AppendBody(nil, &gdi.Alter{Jobs: jobs, HoldAdd: "u"})}, Agent: "x",
			Reason: "x", Effect: "x"},
		&gdi.StartTask{Job: id, Task: 1, Host: f.Hosts[0],
			Launch: &grid.Launch{Args: []string{"true"}, Env: grid.Values{{Name: "A", Text: "B"}}, Connect: "x"}},
	}, nil
}

// attempts are those of the honest user's jobs.
func (f *Field) attempts() (out []report.Attempt) {
	for _, id := range f.Jobs {
		out = append(out, report.Attempt{Job: id, Task: 1, N: 1})
	}
	return out
}

// hostReport is a report that the honest user's jobs have ended.
func (f *Field) hostReport(host string) report.Report {
	r := report.Report{
		Host: host, Incarnation: "x", Seq: 1 << 40, Hello: true, Conf: 1,
		Load: &report.Load{Values: grid.Values{{Name: "np_load_avg", Text: "999"}}, Processors: 1},
	}
	for _, a := range f.attempts() {
		r.Tasks = append(r.Tasks, report.Task{Attempt: a, Phase: report.Ended, Start: 1,
			Result: &report.Result{Failed: report.FailedBeforeJob, Text: "x"}, Binding: "S"})
	}
	return r
}

// orders start, suspend and remove jobs.
func (f *Field) orders(host string) orders.List {
	id := f.Jobs[0]
	return orders.List{
		Seq: 1, Scheduler: "schedd", Algorithm: "default", Run: 1, Epoch: 1, Last: true,
		Orders: []orders.Order{
			&orders.StartJob{Job: id, Task: 1, JobVersion: 1, Grants: []grid.Grant{{Queue: "all.q", Host: host, Slots: 1}},
				QueueVersions: []uint32{1}},
			&orders.SuspendOnThreshold{Job: id, Task: 1, Queue: "all.q@" + host}, &orders.RemoveImmediateJob{Job: id},
			&orders.Preempt{Job: id, Task: 1, Suspend: true, For: id}, &orders.ClearPriInfo{Job: id, Task: 1},
			&orders.Tickets{Job: id, Task: 1, Tickets: 1},
			&orders.PTickets{Job: id, Task: 1}, &orders.SchedConf{WeightTicketsOverride: 1},
			&orders.UnsuspendOnThreshold{Job: id, Task: 1, Queue: "all.q@" + host},
			&orders.JobScheddInfo{}, &orders.PriorityRange{}, &orders.Unsuspend{Job: id, Task: 1},
			&orders.StoreState{States: []grid.AlgorithmState{{}}},
			&orders.JobReservation{Job: id, Task: 1, JobVersion: 1, Start: 1, End: grid.Never,
				Grants: []grid.Grant{{Queue: "all.q", Host: host, Slots: 1}}},
		},
	}
}

// command stops an execution daemon and kills its jobs.
func (f *Field) command(host string) report.Command {
	return report.Command{
		Epoch: 1 << 40, Stop: true, Kill: true, Signals: []report.Signal{{Attempt: f.attempts()[0], Kind: report.Terminate}},
		Queues: []report.QueueInstance{{Name: "all.q", Host: host}},
		Conf:   grid.Values{{Name: "prolog", Text: "root@/bin/sh"}},
		Deliver: []report.Deliver{{Attempt: report.Attempt{Job: 1 << 30, Task: 1, N: 1},
			Grants: []grid.Grant{{Queue: "all.q", Host: host, Slots: 1}}}},
		Jobs: []*grid.Job{{JobRequest: &grid.JobRequest{}, ID: 1 << 30, Owner: "root",
			Spec: &grid.JobSpec{Command: "/bin/true"}, Binary: true}},
	}
}
