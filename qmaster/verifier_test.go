package qmaster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
)

// gate is a verifier that writes down the job's name, waits until there is a file
// open when the name begins with slow, rejects what is called bad and calls all
// others good.
const gate = `#!/bin/sh
cd "${0%/*}" || exit
while read -r line; do
  case "$line" in
  START) echo STARTED ;;
  "PARAM N "*) name=${line#PARAM N } ;;
  BEGIN)
    echo "$name $$" >> seen
    case "$name" in
    slow*) while test ! -e open; do sleep 0.02; done ;;
    bad) echo RESULT STATE REJECT no $name jobs; continue ;;
    worse) exit 1 ;;
    esac
    echo PARAM N "good$name"
    echo RESULT STATE CORRECT ;;
  QUIT) exit ;;
  esac
done
`

// gated is a running qmaster whose jobs go through the gate, and the gate's folder.
func gated(t *testing.T, cell cell.Cell) (q *QMaster, dir string) {
	t.Helper()
	dir = t.TempDir()
	path := filepath.Join(dir, "gate")
	if err := os.WriteFile(path, []byte(gate), 0o755); err != nil {
		t.Fatal(err)
	}
	q = start(t, Options{Cell: cell})
	verifyBy(t, cell, "script:"+path)
	return q, dir
}

func verifyBy(t *testing.T, cell cell.Cell, url string) {
	t.Helper()
	conf := *grid.DefaultConf()
	conf.Entries = conf.Entries.With("jsv_url", url)
	reply, err := connect(t, cell).Do(context.Background(), "qconf", &gdi.Modify{Objects: []grid.Object{&conf}})
	if err != nil || !reply.OK() {
		t.Fatal(reply, err)
	}
}

// seenBy waits until the gate has seen n jobs, and returns them: name and process.
func seenBy(t *testing.T, dir string, n int) [][]string {
	t.Helper()
	var seen [][]string
	testkit.Until(t, fmt.Sprintf("%d jobs at the gate", n), testkit.Patience, func() (bool, string) {
		text, err := os.ReadFile(filepath.Join(dir, "seen"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		seen = nil
		for line := range strings.Lines(string(text)) {
			seen = append(seen, strings.Fields(line))
		}
		return len(seen) >= n, string(text)
	})
	return seen
}

func open(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "open"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Jobs are looked at by one process after the other, corrected or rejected; without
// a verifier they are not, and its processes are gone.
func TestVerifier(t *testing.T) {
	cell := newCell(t)
	q, dir := gated(t, cell)
	defer stop(t, q)
	c := connect(t, cell)
	a := submitJob(t, c, "a")
	if jobs(t, c)[a] != "gooda" {
		t.Fatal(jobs(t, c))
	}
	submitJob(t, c, "b")
	seen := seenBy(t, dir, 2)
	if len(seen) != 2 || seen[0][1] != seen[1][1] {
		t.Fatalf("not one process: %v", seen)
	}
	for name, why := range map[string]string{"bad": "no bad jobs", "worse": "got no response from JSV script"} {
		reply, err := c.Do(context.Background(), "qsub", &gdi.Submit{Job: aJob(name)})
		if err != nil || reply.OK() || !strings.Contains(reply.Answers[0].Text, why) {
			t.Fatalf("%s: %+v %v", name, reply, err)
		}
	}
	reply, err := c.Do(context.Background(), "qsub", &gdi.Verify{Job: aJob("bad"), Mode: "v"})
	if err != nil || reply.OK() {
		t.Fatalf("%+v %v", reply, err)
	}
	submitJob(t, c, "c")
	// A request without a specification is verified, too.
	if reply, err = c.Do(context.Background(), "qsub",
		&gdi.Submit{Job: &grid.Job{JobRequest: &grid.JobRequest{}, Name: "bad"}}); err != nil || reply.OK() {
		t.Fatalf("%+v %v", reply, err)
	}
	// So is a copy of a job, which is a job like others.
	resubmit := func(job uint32) gdi.Reply {
		reply, err := c.Do(context.Background(), "qresub", &gdi.Resubmit{Job: job})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	if copy := resubmit(a).Job; jobs(t, c)[copy] != "goodgooda" {
		t.Fatal(copy, jobs(t, c))
	}
	if reply := resubmit(99); reply.OK() || reply.Answers[0].Text != `job "99" does not exist` {
		t.Fatal(reply)
	}
	verifyBy(t, cell, "none")
	bad := submitJob(t, c, "bad")
	if jobs(t, c)[bad] != "bad" {
		t.Fatal(jobs(t, c))
	}
	if copy := resubmit(bad).Job; jobs(t, c)[copy] != "bad" {
		t.Fatal(copy, jobs(t, c))
	}
	verifyBy(t, cell, "script:"+filepath.Join(dir, "gate"))
	if reply := resubmit(bad); reply.OK() || !strings.Contains(reply.Answers[0].Text, "no bad jobs") {
		t.Fatal(reply)
	}
}

// A slow verifier holds up those whose jobs it looks at, and no others.
func TestVerifierSlow(t *testing.T) {
	cell := newCell(t)
	q, dir := gated(t, cell)
	defer stop(t, q)
	scripts := q.owner.verifier.free.User
	sent := make(chan gdi.Reply, 3*scripts)
	for range cap(sent) {
		c := connect(t, cell)
		go func() {
			reply, err := c.Do(context.Background(), "qsub", &gdi.Submit{Job: aJob("slow")})
			if err != nil {
				reply.Answers = []gdi.Answer{gdi.Deny(gdi.StatusNoDaemon, err.Error())}
			}
			sent <- reply
		}()
	}
	if seen := seenBy(t, dir, scripts); len(seen) != scripts {
		t.Fatal(seen)
	}
	testkit.Until(t, "all jobs have come", testkit.Patience, func() (bool, string) {
		v := q.owner.verifier
		v.mu.Lock()
		defer v.mu.Unlock()
		return len(v.busy) == cap(sent), fmt.Sprint(len(v.busy))
	})
	if all := jobs(t, connect(t, cell)); len(all) != 0 {
		t.Fatal(all)
	}
	verifyBy(t, cell, "none") // qmaster is there for others; these jobs are looked at all the same
	// The numbers of those that are looked at are set aside.
	if id := submitJob(t, connect(t, cell), "free"); id != uint32(scripts)+1 {
		t.Fatal(id)
	}
	open(t, dir)
	for range cap(sent) {
		if reply := <-sent; !reply.OK() {
			t.Fatal(reply)
		}
	}
	for _, name := range jobs(t, connect(t, cell)) {
		if name != "goodslow" && name != "free" {
			t.Fatal(name)
		}
	}
}

// TestVerifierFair: a user with many jobs before a slow verifier does not delay another user, and what a client that
// has gone has sent is not looked at.
func TestVerifierFair(t *testing.T) {
	cell := newCell(t)
	q, dir := gated(t, cell)
	defer stop(t, q)
	v := q.owner.verifier
	mallory := q.Remote(bus.Identity{Role: bus.User, Name: "mallory"})
	defer mallory.Close()
	const many = 40
	ended := make(chan error, many)
	for range many {
		go func() {
			_, err := mallory.Do(t.Context(), "qsub", &gdi.Submit{Job: aJob("slow")})
			ended <- err
		}()
	}
	waiting := func(n int) {
		testkit.Until(t, fmt.Sprintf("%d jobs wait", n), testkit.Patience,
			func() (bool, string) { return v.free.Queued() == n, fmt.Sprint(v.free.Queued()) })
	}
	waiting(many - v.free.User)
	short, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	alice := q.Remote(bus.Identity{Role: bus.User, Name: "alice"})
	defer alice.Close()
	if reply, err := alice.Do(short, "qsub", &gdi.Submit{Job: aJob("honest")}); err != nil || !reply.OK() {
		t.Fatalf("%+v %v", reply, err)
	}
	// One more place is taken, and a client waits for the next one, which goes.
	go alice.Do(t.Context(), "qsub", &gdi.Submit{Job: aJob("slow")})
	seenBy(t, dir, v.free.Total+1)
	lost, stopped := context.WithCancel(t.Context())
	c := connect(t, cell)
	go c.Do(lost, "qsub", &gdi.Submit{Job: aJob("lost")})
	waiting(many - v.free.User + 1)
	stopped()
	c.Close()
	testkit.Until(t, "the client has gone", testkit.Patience, func() (bool, string) {
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, r := range v.busy {
			if r.ClientGone() {
				return true, ""
			}
		}
		return false, ""
	})
	open(t, dir)
	for range many {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for _, one := range seenBy(t, dir, many+2) {
		if one[0] == "lost" {
			t.Error("the job of the client that has gone was looked at")
		}
	}
}

// A request that is repeated while its job is looked at, or afterwards, is looked at
// once and makes one job; another user's under the same number is another.
func TestVerifierRetry(t *testing.T) {
	cell := newCell(t)
	q, dir := gated(t, cell)
	defer stop(t, q)
	ask := func(user string) <-chan gdi.Reply {
		conn, err := q.Connect(bus.Identity{Role: bus.User, Name: user})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		answer := make(chan gdi.Reply, 1)
		data := codec.AppendRequest(
			nil, gdi.Request{ID: "number", Host: q.opts.Host, Command: "qsub", Body: &gdi.Submit{Job: aJob("slow")}})
		go func() {
			defer close(answer)
			got, err := conn.Ask(context.Background(), "submit", data)
			for errors.Is(err, bus.ErrBusy) { // the account of the user is still looked up
				got, err = conn.Ask(context.Background(), "submit", data)
			}
			if err == nil {
				reply, _ := codec.DecodeReply(got)
				answer <- reply
			}
		}()
		return answer
	}
	ask("root") // he goes away
	seenBy(t, dir, 1)
	asker := func() (r *bus.Request) { // who waits for the one job that is looked at
		q.owner.verifier.mu.Lock()
		defer q.owner.verifier.mu.Unlock()
		for _, r = range q.owner.verifier.busy {
		}
		return r
	}
	gone := asker()
	again := ask("root")
	testkit.Until(t, "the same request asks again", testkit.Patience,
		func() (bool, string) { return asker() != gone, "" })
	open(t, dir)
	first := <-again
	later := <-ask("root")
	if first.Job == 0 || later.Job != first.Job {
		t.Fatalf("%+v, later %+v", first, later)
	}
	if seen := seenBy(t, dir, 1); len(seen) != 1 {
		t.Fatalf("looked at more than once: %v", seen)
	}
	other := <-ask("nobody")
	if other.Job == first.Job || len(seenBy(t, dir, 2)) != 2 {
		t.Fatalf("%+v is not looked at", other)
	}
}

// A qmaster that stops does not wait for its verifier, and whoever waits for that
// asks the next one.
func TestVerifierStop(t *testing.T) {
	cell := newCell(t)
	q, dir := gated(t, cell)
	c := connect(t, cell)
	sent := make(chan gdi.Reply, 1)
	go func() {
		reply, _ := c.Do(context.Background(), "qsub", &gdi.Submit{Job: aJob("slow")})
		sent <- reply
	}()
	seenBy(t, dir, 1)
	stop(t, q)
	open(t, dir)
	q = start(t, Options{Cell: cell})
	defer stop(t, q)
	<-sent // it was answered by the next, or found none
	if all := jobs(t, connect(t, cell)); len(all) > 1 {
		t.Fatal(all)
	}
}
