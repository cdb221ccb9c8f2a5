package qmaster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/testkit"
)

// TestBudgetOfLittleMemory: when the objects of all users take what they may, memory is not short yet, however little
// there is; nor can one user take what all have.
func TestBudgetOfLittleMemory(t *testing.T) {
	for _, limit := range []int64{256 << 20, 512 << 20, 1 << 30, 16 << 30} {
		m := &memory{limit: limit}
		user, all := m.budget()
		if m.live = all + ownMost; m.isShort() || user < 1<<20 || 3*user > 2*all {
			t.Errorf("limit %d MiB: a user has %d MiB, all have %d MiB", limit>>20, user>>20, all>>20)
		}
	}
}

// TestShortOfMemory: every type of request waits for better times while memory is short, but for those that free some
// or keep nothing. A new type does unless it is listed here and in whenShort.
func TestShortOfMemory(t *testing.T) {
	m := newMemory(1)
	runtime.GC() // what is live is known after a collection
	carriedOut := []string{"delete-jobs", "delete-ars", "delete", "revoke-tokens", "control", "trigger", "get", "streams",
		"ways-to-log-in", "alter"}
	for _, b := range gdi.Bodies() {
		if got, want := m.short(b) == "", slices.Contains(carriedOut, b.Verb()); got != want {
			t.Errorf("%s is carried out: %v, should be: %v", b.Verb(), got, want)
		}
	}
	for _, c := range []struct {
		b    gdi.Body
		want bool
	}{
		{&gdi.Alter{HoldAdd: "u"}, true},
		{&gdi.Alter{Set: []string{"ac"}}, false},
		{&gdi.Decide{Decision: gdi.Approve}, false},
		{&gdi.Decide{Decision: gdi.Reject}, true},
		{&gdi.Decide{Decision: gdi.Withdraw}, true},
	} {
		if got := m.short(c.b) == ""; got != c.want {
			t.Errorf("%+v is carried out: %v", c.b, got)
		}
	}
}

// TestFreedMemoryIsNotInUse: what was in use when garbage was collected last, and is not any more, is no reason to
// refuse a request.
func TestFreedMemoryIsNotInUse(t *testing.T) {
	m := newMemory(0)
	runtime.GC()
	m.readLive()
	m.limit = int64(float64(m.live+100<<20) / livePart)
	big := make([]byte, 200<<20)
	runtime.GC()
	runtime.KeepAlive(big)
	if m.readLive(); !m.isShort() {
		t.Fatalf("%d of %d bytes are in use", m.live, m.limit)
	}
	if text := m.short(&gdi.Submit{}); text != "" {
		t.Error(text)
	}
}

// TestRecoveryUnderTheLimit: one user fills the memory with jobs that grow afterwards, as much as is allowed. qmaster
// starts again with the same memory, the jobs can be deleted, and then there is room.
func TestRecoveryUnderTheLimit(t *testing.T) {
	usual := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(usual)
	cell := newCell(t)
	options := Options{Cell: cell, Memory: 160 << 20}
	q := start(t, options)
	c := connect(t, cell)
	const n = 100
	alter := func(name string) (refused string) {
		big := &grid.Job{Spec: &grid.JobSpec{}}
		for i := range 8 {
			big.Spec.Context = append(big.Spec.Context,
				grid.Value{Name: fmt.Sprint(name, i), Text: strings.Repeat("x", 100_000)})
		}
		reply,
			err := c.Do(t.Context(), "qalter", &gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{Name: name}}},
			Set: []string{"sc"}, Job: big})
		if err != nil {
			t.Fatal(err)
		}
		if err := reply.Err(); err != nil {
			return err.Error()
		}
		return ""
	}
	refused := ""
	for i := range n {
		name := fmt.Sprint("j", i)
		submitJob(t, c, name)
		if text := alter(name); text != "" {
			refused = text
		}
	}
	if !strings.Contains(refused, "of qmaster's memory") {
		t.Errorf("%d jobs of 0.8 MB were accepted: %q", n, refused)
	}
	stop(t, q)
	q = start(t, options)
	defer stop(t, q)
	c = connect(t, cell)
	if got := len(jobs(t, c)); got != n {
		t.Errorf("%d jobs", got)
	}
	if text := alter("j99"); text == "" {
		t.Error("the budget is not what it was before the start")
	}
	if reply, err := c.Do(t.Context(), "qdel", &gdi.DeleteJobs{Jobs: gdi.Jobs{Users: grid.Names{"*"}}}); err != nil ||
		!reply.OK() {
		t.Fatal(reply, err)
	}
	submitJob(t, c, "again")
	if text := alter("again"); text != "" {
		t.Error(text)
	}
}

// TestBigScripts sends scripts to a qmaster that may use little memory: one that is too
// big is refused before it is decoded, and new jobs are when their user has the allowed share.
// Neither ends qmaster, and when jobs are deleted others are accepted.
func TestBigScripts(t *testing.T) {
	usual := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(usual)
	cell := newCell(t)
	q := start(t, Options{Cell: cell, Memory: 160 << 20})
	defer stop(t, q)
	c := connect(t, cell)
	submit := func(size, n int) gdi.Reply {
		j := aJob("big")
		j.Binary, j.Spec.Script = false, append(bytes.Repeat([]byte("x"), size), fmt.Sprint(n)...)
		reply, err := c.Do(t.Context(), "qsub", &gdi.Submit{Job: j})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	if r := submit(7<<20, 0); r.OK() ||
		!strings.Contains(r.Answers[0].Text, "request of 7.0 MB is too big: qmaster takes 4.0 MB at most") {
		t.Errorf("%+v", r)
	}
	if r := submit(3<<20, 0); !r.OK() {
		t.Errorf("%+v", r)
	}
	made, text := 1, ""
	for ; made < 100 && text == ""; made++ {
		if r := submit(3<<20, made); !r.OK() {
			text = r.Answers[0].Text
		}
		runtime.GC()
	}
	if !strings.Contains(text, "of qmaster's memory") && !strings.Contains(text, "qmaster is short of memory") {
		t.Fatalf("%d scripts of 3 MB were accepted: %s", made, text)
	}
	if n := len(jobs(t, c)); n != made-1 {
		t.Errorf("%d jobs, made %d", n, made)
	}
	reply, err := c.Do(t.Context(), "qdel", &gdi.DeleteJobs{Jobs: gdi.Jobs{Users: grid.Names{"*"}}})
	if err != nil || !reply.OK() {
		t.Fatal(reply, err)
	}
	for tick := time.Tick(20 * time.Millisecond); !submit(1, 0).OK(); <-tick { // until the log has let go of them
		runtime.GC()
	}
}

func TestMemoryLimit(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	limits := func(want int64) {
		t.Helper()
		if got := memoryLimit(root); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	write("proc/meminfo", "MemFree: 5 kB\nMemTotal:       2097152 kB\n")
	limits(2 << 30)
	write("proc/self/cgroup", "0::/system.slice/quill.service\n")
	write("sys/fs/cgroup/system.slice/quill.service/memory.max", "max\n")
	limits(2 << 30)
	write("sys/fs/cgroup/system.slice/memory.max", "125829120\n")
	limits(120 << 20)
	write("proc/self/cgroup", "5:memory:/a\n0::/\n")
	write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1048576\n")
	limits(1 << 20)
}

// TestMemoryIsGivenBack: what a burst of large requests has left goes back to the system
// soon after it.
func TestMemoryIsGivenBack(t *testing.T) {
	m := newMemory(1 << 30)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() {
		m.giveBack(ctx)
		close(ended)
	}()
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}}
	resident := func() uint64 { // allocates nothing: memory is given back when little happens
		metrics.Read(s)
		return s[0].Value.Uint64() + s[1].Value.Uint64() + s[2].Value.Uint64()
	}
	debug.FreeOSMemory()
	before := resident()
	const burst = 300 << 20
	func() {
		all := make([][]byte, burst>>20)
		for range 4 { // a request takes several times its size, one copy after the other
			for i := range all {
				all[i] = make([]byte, 1<<20)
			}
		}
		if now := resident(); now < before+burst/10*9 {
			t.Errorf("%d MB before, %d MB with %d MB", before>>20, now>>20, burst>>20)
		}
		runtime.KeepAlive(all)
	}()
	for begun, tick := time.Now(), time.Tick(time.Millisecond); resident() > before+burst/4; <-tick {
		if time.Since(begun) > testkit.Patience {
			t.Fatalf("%d MB before, %d MB afterwards", before>>20, resident()>>20)
		}
	}
	cancel()
	<-ended
}

// TestWaitersAreBound: a user's clients that wait for jobs have places; one that finds none asks again, and has one as
// soon as another has been answered.
func TestWaitersAreBound(t *testing.T) {
	cell := newCell(t)
	q := start(t, Options{Cell: cell})
	defer stop(t, q)
	q.owner.waits = fair.NewPlaces("clients that wait for jobs", fair.Limits{Total: 10, User: 1})
	c := connect(t, cell)
	first, second := submitJob(t, c, "first"), submitJob(t, c, "second")
	wait := func(job uint32) chan error {
		answered := make(chan error, 1)
		other := connect(t, cell)
		go func() {
			_, err := other.Do(context.Background(), "qsub", &gdi.Wait{Job: job, For: "ended"})
			answered <- err
		}()
		return answered
	}
	one := wait(first)
	for q.owner.waits.Count() == 0 {
		runtime.Gosched()
	}
	two := wait(second)
	del := func(job uint32, answered chan error) {
		if reply, err := c.Do(t.Context(), "qdel", &gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: job}}}}); err !=
			nil || !reply.OK() {
			t.Fatal(reply, err)
		}
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
	del(first, one)
	for q.owner.waits.Count() == 0 {
		runtime.Gosched()
	}
	del(second, two)
	if n, m := q.owner.waits.Count(), q.owner.manyJobs.Count(); n+m != 0 {
		t.Errorf("%d and %d places are held", n, m)
	}
}
