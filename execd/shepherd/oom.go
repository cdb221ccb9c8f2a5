package shepherd

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// jobOOMScore is the oom_score_adj of jobs: when the host is out of memory the kernel ends one of their processes
// before it ends a daemon. What the shepherd was started with is kept where it is worse. Users can make it worse, not
// better.
const jobOOMScore = 500

// oomScore gives processes the score of jobs when they are forked: the shepherd itself has it meanwhile. Set
// afterwards, what a job had forked by then would have that of the shepherd, which may be protected. A change of the
// score of a process with threads has the kernel look at all processes of the host, so the shepherd stays with that of
// jobs until no process was forked for oomPause.
type oomScore struct {
	file     *os.File // /proc/self/oom_score_adj; nil: the shepherd's own is for jobs, too
	own, job []byte

	mu     sync.Mutex
	forks  int  // under way
	raised bool // the shepherd has the score of jobs
	lower  *time.Timer
}

// oomPause is short: meanwhile the kernel may end the shepherd, too, though jobs that take more memory come first.
const oomPause = 100 * time.Millisecond

func newOOMScore() *oomScore {
	file, err := os.OpenFile("/proc/self/oom_score_adj", os.O_RDWR, 0)
	if err != nil {
		return &oomScore{} // /proc is read-only
	}
	var text [16]byte
	n, _ := file.Read(text[:])
	own, err := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	if err != nil || own >= jobOOMScore {
		file.Close()
		return &oomScore{}
	}
	return &oomScore{file: file, own: []byte(strconv.Itoa(own)), job: []byte(strconv.Itoa(jobOOMScore))}
}

// whileForking runs f, which forks.
func (o *oomScore) whileForking(f func()) {
	if o.file == nil {
		f()
		return
	}
	o.mu.Lock()
	o.forks++
	if !o.raised {
		o.raised = true
		o.file.WriteAt(o.job, 0) // raising needs no right, and lowering to what it was neither
	}
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.forks--; o.forks > 0 {
			return
		}
		if o.lower == nil {
			o.lower = time.AfterFunc(oomPause, o.restoreScore)
		} else {
			o.lower.Reset(oomPause)
		}
	}()
	f()
}

// restoreScore gives the shepherd its own score back, unless a process is being forked.
func (o *oomScore) restoreScore() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.forks == 0 && o.raised {
		o.raised = false
		o.file.WriteAt(o.own, 0)
	}
}
