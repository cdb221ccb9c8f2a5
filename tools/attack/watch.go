package attack

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// watch follows the memory and the descriptors of the daemons.
type watch struct {
	daemons []*daemon

	mu      sync.Mutex
	now     map[string]usage // by daemon
	samples map[string][]usage
}

// usage is what a process has at a time.
type usage struct {
	at     time.Time
	memory int64 // resident, in bytes
	files  int
}

const watchEvery = 200 * time.Millisecond

// run takes samples until ctx ends.
func (w *watch) run(ctx context.Context) {
	for tick := time.NewTicker(watchEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
			for _, d := range w.daemons {
				w.sampleDaemon(d)
			}
		}
	}
}

// sampleDaemon takes a sample of one daemon.
func (w *watch) sampleDaemon(d *daemon) {
	u, err := usageOf(d.pid())
	if err != nil {
		return // it is being started again
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now[d.name] = u
	w.samples[d.name] = append(w.samples[d.name], u)
}

// last is the newest sample of a daemon.
func (w *watch) last(daemon string) usage {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now[daemon]
}

// peak is the most that there was of each in a stretch of time.
func (w *watch) peak(daemon string, from, to time.Time) (most usage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range w.samples[daemon] {
		if !u.at.Before(from) && u.at.Before(to) {
			most.memory, most.files = max(most.memory, u.memory), max(most.files, u.files)
		}
	}
	return most
}

// usageOf reads what a process has from proc(5).
func usageOf(pid int) (usage, error) {
	u := usage{at: time.Now()}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, err
	}
	_, after, found := bytes.Cut(status, []byte("VmRSS:"))
	if !found {
		return u, fmt.Errorf("process %d has no memory", pid)
	}
	number, _, _ := strings.Cut(strings.TrimSpace(string(after)), " ")
	kib, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return u, err
	}
	u.memory = kib << 10
	dir, err := os.Open(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return u, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	u.files = len(names)
	return u, err
}
