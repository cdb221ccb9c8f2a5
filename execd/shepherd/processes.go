package shepherd

import (
	"slices"
	"sync"
	"syscall"

	"github.com/quill-grid/quill/execd/procfs"
)

// attemptProcesses are the processes of an attempt, as far as the reaper must know it.
type attemptProcesses struct {
	users []uint32 // of its steps, the owner first
	used  meter

	// Owned by the reaper, under its mu.
	spool    string // the directory that marks them
	group    string // the control group; "": none
	sessions []int
	ticks    uint64          // entered then, on the clock of Stat.Start
	orphans  map[int]*orphan // by process id
	found    int             // orphans that became its own so far
	leaving  bool            // its orphans are killed

	joining sync.Mutex       // held while a process is adopted
	adopted []adoptedProcess // without a control group
	closed  bool             // what it has adopted is ended, and no more joins
}

// adoptedProcess is a process that was adopted by an attempt without a control group.
type adoptedProcess struct {
	pid   int
	start uint64
}

// refuseAdoption lets no process join the attempt from now on.
func (a *attemptProcesses) refuseAdoption() {
	a.joining.Lock()
	defer a.joining.Unlock()
	a.closed = true
}

// livingAdopted returns the processes that a has adopted and that live, and forgets the others.
func (a *attemptProcesses) livingAdopted() (pids []int) {
	a.joining.Lock()
	defer a.joining.Unlock()
	a.adopted = slices.DeleteFunc(a.adopted, func(g adoptedProcess) bool {
		s, ok := procfs.ReadStat(g.pid)
		return !ok || s.Start != g.start
	})
	for _, g := range a.adopted {
		pids = append(pids, g.pid)
	}
	return pids
}

// killAdopted ends what an attempt without a control group has adopted. Each process is stopped before its children are
// read: one that had ended would have none, and they would be found no more.
func (a *attemptProcesses) killAdopted() {
	var all []procfs.Stat
	procfs.WalkTree(a.livingAdopted(), func(s procfs.Stat) {
		procfs.SignalExactly(s.PID, s.Start, syscall.SIGSTOP)
		all = append(all, s)
	})
	for _, s := range all {
		procfs.SignalExactly(s.PID, s.Start, syscall.SIGKILL)
	}
}
