package web

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/tools/web/mirror"
)

var memory = flag.Int("memory", 100_000, "events of which TestMemory keeps the lists")

// inUse returns the bytes that are in use.
func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemory: the kept lists of a busy cell cost less than 60 bytes an event, their index included. The lists are those
// of a cell of 20 hosts that starts and ends 400 jobs, again and again.
func TestMemory(t *testing.T) {
	c := newCell(t, 20)
	first := len(c.lists)
	for job := uint32(1); job <= 400; job++ {
		c.submit("alice", "-N", "frame", "-l", "h_rt=600", "render", "scene4", "--frame", "17")
		c.run()
		c.end(job, 0)
	}
	var lists []events.List
	for _, l := range c.lists[first:] {
		lists = append(lists, public(l))
	}
	r := mirror.NewRecent(mirror.StretchEvents)
	r.BeginAfter(state.New())
	begun := inUse()
	n, next := 0, uint64(1)
	for ; n < *memory; next++ {
		l := lists[next%uint64(len(lists))]
		l.Seq = next
		n += len(l.Events)
		r.Add(l)
	}
	_, stretches, _ := r.Begin()
	used := float64(inUse() - begun)
	t.Logf("%d events in %d lists, %d stretches: %.0f MiB, %.0f bytes an event", n, next-1, stretches,
		used/(1<<20), used/float64(n))
	if used/float64(n) > 60 {
		t.Error("an event costs too much")
	}
	runtime.KeepAlive(r)
	runtime.KeepAlive(lists)
}

// TestMemoryAfterwards: what users have made large is not kept when it has been deleted, also when little happens then.
func TestMemoryAfterwards(t *testing.T) {
	c := newCell(t, 2)
	apply := func(e events.Event) {
		seq, _ := c.server.mirror.Seq()
		c.sink.Apply(events.List{Seq: seq + 1, At: c.now, Events: []events.Event{e}})
	}
	begun := inUse()
	const jobs, size = 160, 1 << 20
	text, dice := make([]byte, size), rand.New(rand.NewPCG(1, 2))
	for i := range uint32(jobs) {
		for j := range text { // not compressible
			text[j] = byte(dice.Uint32())
		}
		job := &grid.Job{ID: 1000 + i, Name: "x", Owner: "mallory", JobRequest: &grid.JobRequest{},
			Spec: &grid.JobSpec{Context: grid.Values{{Name: "A", Text: string(text)}}}}
		apply(events.Event{Op: events.OpAdd, Kind: grid.KindJob, Key: grid.Key{ID: job.ID}, Object: job})
	}
	grown := inUse() - begun
	for i := range uint32(jobs) {
		apply(events.Event{Op: events.OpDel, Kind: grid.KindJob, Key: grid.Key{ID: 1000 + i}})
	}
	left := inUse() - begun
	t.Logf("%d MiB of jobs grow to %d MiB, of which %d MiB are left", jobs*size>>20, grown>>20, left>>20)
	if most := uint64(mirror.StretchesMost*mirror.StretchBytes + mirror.KeptBytes + mirror.GoneMost +
		24<<20); left > most {
		t.Errorf("more than %d MiB", most>>20)
	}
	runtime.KeepAlive(c)
}
