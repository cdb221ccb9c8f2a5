package web

import (
	"flag"
	"runtime"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/state"
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

// TestMemory: the kept lists of a busy cell cost less than 60 bytes an event, their index included. The lists are those of a cell of 20 hosts that
// starts and ends 400 jobs, again and again.
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
	r := recent{every: stretchEvents}
	r.begin(state.New())
	begun := inUse()
	n := 0
	for n < *memory {
		l := lists[r.next%uint64(len(lists))]
		l.Seq = r.next
		n += len(l.Events)
		r.add(l)
	}
	used := float64(inUse() - begun)
	t.Logf("%d events in %d lists, %d stretches: %.0f MiB, %.0f bytes an event", n, r.next-1, len(r.stretches), used/(1<<20), used/float64(n))
	if used/float64(n) > 60 {
		t.Error("an event costs too much")
	}
	runtime.KeepAlive(&r)
	runtime.KeepAlive(lists)
}
