package qmaster

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
)

// memory bounds the memory that requests of users may use. Reports of daemons are not
// bounded by it, so that existing jobs continue when memory is short.
type memory struct {
	limit      int64 // bytes that the process may use
	requestMax int   // the longest request

	mu     sync.Mutex
	looked time.Time
	live   int64 // bytes of the heap that the last collection has left
	sample []metrics.Sample

	collected  time.Time   // see collect
	collecting atomic.Bool // a run has not ended
}

// A request is decoded and applied while the log and the feeds have copies of it, some
// ten times its length altogether, and the garbage collector needs as much again.
const (
	requestMost = 4 << 20                // bytes of the longest request, as Slurm's max_script_size
	requestPart = 32                     // of the limit is the longest request, if that is less
	livePart    = 0.6                    // of the limit may be in use when a request that needs more is taken
	userPart    = 0.25                   // of the limit is for the objects of one user
	allPart     = 0.4                    // of the limit is for the objects of all users
	ownMost     = 128 << 20              // bytes that qmaster itself has in use under attack: buffers, requests, answers
	lookEvery   = 100 * time.Millisecond // how often what is in use is read

	collectEvery = time.Second
	collectWait  = time.Second
)

// newMemory returns the bounds for a process that may use limit bytes; 0: what the
// machine, or the process's control group, has.
func newMemory(limit int64) *memory {
	if limit == 0 {
		limit = memoryLimit("/")
	}
	return &memory{
		limit: limit, requestMax: int(min(limit/requestPart, requestMost)),
		sample: []metrics.Sample{{Name: "/gc/heap/live:bytes"}},
	}
}

// LimitMemory has the garbage collector of this process keep below the memory that it may use.
func LimitMemory() { newMemory(0).collectInTime() }

// collectInTime has the garbage collector keep below a limit of the control group,
// unless $GOMEMLIMIT says otherwise: it would let garbage grow to the size of what is
// live, and the process would be killed.
func (m *memory) collectInTime() {
	if os.Getenv("GOMEMLIMIT") == "" && m.limit < math.MaxInt64 {
		debug.SetMemoryLimit(m.limit / 10 * 9)
	}
}

// The collector runs when the heap has doubled, or after two minutes: what a burst of
// large requests has left stays until then, though it is needed no more. So memory is
// given back when little happens after much has; and a qmaster whose live heap is small
// stays below smallMax, at the price of more collections while it is not.
const (
	releaseEvery = time.Second
	releaseLeast = 256 << 20 // bytes, and as many as were live: allocated since memory was given back
	quietMost    = 24 << 20  // bytes that are allocated in releaseEvery when little happens
	quietTimes   = 3

	smallLive = 640 << 20
	smallMax  = 900 << 20
)

// giveBack gives memory back to the system, until ctx ends. It costs no more collections
// than twice those that there are anyway.
func (m *memory) giveBack(ctx context.Context) {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	before, released, quiet := sample[0].Value.Uint64(), sample[0].Value.Uint64(), 0
	tick := time.NewTicker(releaseEvery)
	defer tick.Stop()
	most := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(most)
	for {
		live := sample[1].Value.Uint64()
		if live < smallLive && os.Getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(min(most, smallMax))
		} else {
			debug.SetMemoryLimit(most)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		metrics.Read(sample)
		now := sample[0].Value.Uint64()
		if quiet++; now-before > quietMost {
			quiet = 0
		}
		before = now
		if quiet >= quietTimes && now-released > max(releaseLeast, live) {
			debug.FreeOSMemory()
			released = now
		}
	}
}

// refuses returns why a request of so many bytes is not even decoded; "" if it may be.
func (m *memory) refuses(size int) string {
	if size <= m.requestMax {
		return ""
	}
	return fmt.Sprintf(
		"denied: request of %.1f MB is too big: qmaster takes %.1f MB at most; put what is big into a file that the job reads",
		float64(size)/(1<<20), float64(m.requestMax)/(1<<20))
}

// whenShort reports whether a request is carried out while memory is short: it frees memory, leads to that, or keeps
// nothing. A type of request that is not listed here waits for better times.
func whenShort(b gdi.Body) bool {
	switch b := b.(type) {
	case *gdi.DeleteJobs, *gdi.DeleteARs, *gdi.Delete, *gdi.RevokeTokens, *gdi.Control, *gdi.Trigger, *gdi.Get,
		*gdi.Streams, *gdi.WaysToLogIn:
		return true
	case *gdi.Alter: // qhold and qrls
		return len(b.Set) == 0
	case *gdi.Decide:
		return b.Decision == gdi.Reject || b.Decision == gdi.Withdraw
	}
	return false
}

// budget returns how many bytes the objects of one user, and those of all users, may take: core.Budget. What is held in
// memory besides them (indexes, the scheduler's view, messages on their way) needs about as much again. Where memory is
// small, what qmaster itself has in use counts more than that: then a user may have a half of what is left.
func (m *memory) budget() (user, all int64) {
	limit := float64(m.limit)
	left := max(livePart*limit-ownMost, limit/16)
	return int64(min(userPart*limit, left/2)), int64(min(allPart*limit, left*9/10))
}

// short returns why a request is not carried out now; "" if it may be.
func (m *memory) short(b gdi.Body) string {
	if whenShort(b) {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.looked) >= lookEvery {
		m.readLive()
	}
	if m.isShort() {
		m.collect()
	}
	if !m.isShort() {
		return ""
	}
	return fmt.Sprintf(
		"denied: qmaster is short of memory (%d MB of %d MB are in use): nothing new is accepted until jobs have ended; try again later",
		m.live>>20, m.limit>>20)
}

// readLive reads what is in use. It is called with mu held.
func (m *memory) readLive() {
	metrics.Read(m.sample)
	m.looked, m.live = time.Now(), int64(m.sample[0].Value.Uint64())
}

func (m *memory) isShort() bool { return float64(m.live) > livePart*float64(m.limit) }

// collect has the garbage collector find out what is in use now, at most once in collectEvery and not for longer than
// collectWait: what was in use at its last run may long be free, and a qmaster that refuses what is requested allocates
// too little for another run. It is called with mu held.
func (m *memory) collect() {
	if time.Since(m.collected) < collectEvery || !m.collecting.CompareAndSwap(false, true) {
		return
	}
	done := make(chan struct{})
	go func() {
		runtime.GC()
		m.collecting.Store(false)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(collectWait):
	}
	m.collected = time.Now()
	m.readLive()
}

// memoryLimit is the least of $GOMEMLIMIT, which is not changed then, the memory of the machine and that of the
// control groups of the process, with the file systems of root.
func memoryLimit(root string) int64 {
	least := int64(math.MaxInt64)
	if os.Getenv("GOMEMLIMIT") != "" {
		least = debug.SetMemoryLimit(-1)
	}
	note := func(text string, unit int64) {
		if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil && n > 0 && n < math.MaxInt64/unit {
			least = min(least, n*unit)
		}
	}
	lines(filepath.Join(root, "proc/meminfo"), func(line string) {
		if text, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			note(strings.TrimSuffix(text, "kB"), 1024)
		}
	})
	lines(filepath.Join(root, "proc/self/cgroup"), func(line string) {
		part := strings.SplitN(line, ":", 3)
		if len(part) < 3 {
			return
		}
		base, name := "sys/fs/cgroup", "memory.max"
		if part[0] != "0" {
			if part[1] != "memory" {
				return
			}
			base, name = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for dir := path.Clean("/" + part[2]); ; dir = path.Dir(dir) {
			if text, err := os.ReadFile(filepath.Join(root, base, dir, name)); err == nil {
				note(string(text), 1)
			}
			if dir == "/" {
				return
			}
		}
	})
	return least
}

func lines(file string, each func(string)) {
	f, err := os.Open(file)
	if err != nil {
		return
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		each(in.Text())
	}
}
