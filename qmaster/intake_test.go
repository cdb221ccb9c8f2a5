package qmaster

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// TestPanicOverARequest: a request over which the core panics before it has changed
// anything is answered with an internal error; qmaster continues.
func TestPanicOverARequest(t *testing.T) {
	var log bytes.Buffer
	panics := Algorithm{Name: "default", Complete: func(*grid.SchedConf, grid.Resources) error { return nil },
		Admission: func(grid.SchedConf) func(*grid.Job, grid.Resources) string {
			return func(j *grid.Job, _ grid.Resources) string {
				if j.Name == "bad" {
					panic("planted")
				}
				return ""
			}
		}}
	cell := newCell(t)
	q := start(t, Options{Cell: cell, Algorithms: []Algorithm{panics}, Log: hclog.New(&hclog.LoggerOptions{Output: &log})})
	c := connect(t, cell)
	first := submitJob(t, c, "good")
	reply, err := c.Do(context.Background(), "qsub", &gdi.Submit{Job: aJob("bad")})
	if err != nil || reply.OK() || !strings.Contains(reply.Answers[0].Text, "internal error") {
		t.Errorf("%+v %v", reply, err)
	}
	if next := submitJob(t, c, "good"); next != first+1 {
		t.Errorf("job %d after job %d", next, first)
	}
	stop(t, q)
	if text := log.String(); !strings.Contains(text, "planted") || !strings.Contains(text, "submit.go") {
		t.Errorf("the log lacks the panic and its stack:\n%s", text)
	}
	q = start(t, Options{Cell: cell})
	defer stop(t, q)
	if n := len(jobs(t, connect(t, cell))); n != 2 {
		t.Errorf("%d jobs after a restart", n)
	}
}

// TestMessagesOfEveryRole sends each type of message on each subject under each role, as
// it should be and with something missing. qmaster answers, or the server refuses; who
// has no right to a subject changes nothing.
func TestMessagesOfEveryRole(t *testing.T) {
	q := start(t, Options{Cell: newCell(t)})
	defer stop(t, q)
	payloads := [][]byte{nil, {}, {0xc0}, {0x90}, {0x98, 0xc0}, bytes.Repeat([]byte{0x91}, 1<<20),
		bytes.Repeat([]byte{0xdd}, 64)}
	for _, b := range gdi.Bodies() {
		payloads = append(payloads, codec.AppendRequest(nil, gdi.Request{Host: q.opts.Host, Body: b}))
	}
	payloads = append(payloads,
		codec.AppendRequest(nil, gdi.Request{Host: q.opts.Host, Body: &gdi.Submit{Job: aJob("j")}}),
		codec.AppendRequest(nil, gdi.Request{Host: q.opts.Host, Body: &gdi.Submit{Job: &grid.Job{Name: "n"}}}),
		codec.AppendRequest(nil, gdi.Request{Host: q.opts.Host, Body: &gdi.Alter{Set: []string{"N"}}}),
		codec.AppendRequest(nil, gdi.Request{Host: q.opts.Host, Body: &gdi.Get{Kinds: []grid.Kind{0, 99, 255}}}),
		codec.AppendOrders(nil, orders.List{Orders: []orders.Order{&orders.StartJob{}, &orders.StoreState{}}}),
		codec.AppendReport(nil, report.Report{Hello: true, Tasks: []report.Task{{Phase: report.Ended}}}))
	// the account is known now: no message is sent back as busy
	submitJob(t, q.Remote(bus.Identity{Role: bus.User, Name: "somebody"}), "before")
	jobs := 1
	for _, role := range []bus.Role{bus.User, bus.Admin, bus.Host, bus.Scheduler} {
		id := bus.Identity{Role: role, Name: "somebody"}
		conn, err := q.Connect(id)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, subject := range []string{bus.CmdSubject(id, "x"), bus.RegSubject(id), bus.OrderSubject(id),
			bus.HostRepSubject(id.Name), bus.LoadSubject(id.Name)} {
			for _, data := range payloads {
				if err := conn.Publish(subject, data); err != nil { // answered or not, it must be survived
					t.Fatal(err)
				}
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if err := conn.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		submitJob(t, q.Remote(bus.Identity{Role: bus.User, Name: "alice"}), "after")
		n := jobsOf(t, q, "somebody")
		if people := role == bus.User || role == bus.Admin; people != (n > jobs) {
			t.Errorf("%s has made %d jobs", id, n-jobs)
		}
		jobs = 0
		if n > 0 {
			c := q.Remote(bus.Identity{Role: bus.User, Name: "somebody"})
			if _, err := c.Do(context.Background(), "qdel",
				&gdi.DeleteJobs{Jobs: gdi.Jobs{Users: grid.Names{"somebody"}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// jobsOf counts the jobs of a user.
func jobsOf(t *testing.T, q *QMaster, user string) (n int) {
	t.Helper()
	_, err := q.Remote(bus.Identity{Role: bus.User, Name: "alice"}).Get(context.Background(),
		gdi.Get{Kinds: []grid.Kind{grid.KindJob}, Where: gdi.Where{Owners: grid.Names{user}}},
		func(grid.Object) error { n++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}
