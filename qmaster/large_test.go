package qmaster

import (
	"fmt"
	"testing"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
)

// TestLargeRequestsTakeTurns: large requests are decoded beside those who put them, those of each user in turns,
// each when the one before is durable, and what waits of one user is bounded.
func TestLargeRequestsTakeTurns(t *testing.T) {
	begun, begin, order := make(chan bool, 20), make(chan bool), make(chan string, 20)
	l := &large{decode: func(r *bus.Request, _ *codec.Decoder) {
		begun <- true
		<-begin
		order <- r.From.Name
	}, durable: func() { order <- "durable" }}
	put := func(user string, bytes int) {
		l.put(&bus.Request{From: bus.Identity{Role: bus.User, Name: user}, Data: make([]byte, bytes)})
	}
	put("alice", 1)
	<-begun // so it does not wait any more, and no other begins
	put("alice", largeWaiting-1)
	put("alice", 1)
	put("alice", 1) // too much
	put("bob", 1)
	put("bob", 1)
	close(begin)
	l.close()
	close(order)
	got := []string{}
	for name := range order {
		got = append(got, name)
	}
	if text := fmt.Sprint(got); text != "[alice durable alice durable bob durable alice durable bob durable]" {
		t.Error(text)
	}
}

// TestLargeJob: a large request is answered as a small one is.
func TestLargeJob(t *testing.T) {
	cell := newCell(t)
	q := start(t, Options{Cell: cell})
	t.Cleanup(func() { stop(t, q) })
	job := aJob("large")
	job.Binary, job.Spec.Script = false, make([]byte, 4*largeRequest)
	for i := range job.Spec.Script {
		job.Spec.Script[i] = '#'
	}
	reply, err := connect(t, cell).Do(t.Context(), "qsub", &gdi.Submit{Job: job})
	if err != nil || !reply.OK() || reply.Job == 0 {
		t.Error(reply, err)
	}
}
