package shepherd

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/procfs"
)

// reaper does every wait of the shepherd and knows every process the shepherd is the parent of. There are two kinds:
// those it forked (procs), and orphans: descendants of jobs whose parent has died and which the kernel gave to the
// shepherd because it is their subreaper. Neither kind's id can be reused before reap waits for it, so under mu it
// is safe to signal them.
type reaper struct {
	children int           // /proc/self/task/PID/children, held open: orphans appear there
	forked   chan struct{} // capacity 1: there may be something to wait for again

	oom      *oomScore
	priority NiceLevel
	slow     *Slowness
	looking  sync.Mutex   // held while markers are looked for
	adopting sharedRun    // see updateOrphans
	forking  beginCounter // forks, each until its process is in procs

	mu       sync.Mutex
	procs    map[int]*childProcess
	sessions map[int]stepSession          // by session id: of every step of every attempt not yet over
	attempts map[string]*attemptProcesses // by spool directory: every attempt not yet over
	groups   map[string]*attemptProcesses // by control group: every attempt not yet over that has one
	orphans  map[int]*orphan
	// ownerless are the orphans without an owner; attempts have theirs.
	ownerless map[int]*orphan
	changed   *sync.Cond // an orphan was reaped
}

// childProcess is a process the shepherd forked, always the leader of a session of its own.
type childProcess struct {
	pid   int
	group bool             // kill what is left of its process group when it ends
	ended chan processExit // capacity 1

	// floor is the memory, in bytes, that its rusage shows at least: until it became its program it had the shepherd's.
	floor uint64

	// Of a careful start: see careful.go.
	refused chan *attemptFailure // capacity 1
	answer  *os.File             // where refused comes from
	begun   chan struct{}        // closed with refused
}

func newReaper(slow *Slowness) (*reaper, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("becoming subreaper: %w", err)
	}
	// The kernel gives orphans to the first thread of the process.
	pid := strconv.Itoa(os.Getpid())
	fd, err := syscall.Open("/proc/"+pid+"/task/"+pid+"/children", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("this kernel does not list children (CONFIG_PROC_CHILDREN): %w", err)
	}
	r := &reaper{
		children:  fd,
		forked:    make(chan struct{}, 1),
		oom:       newOOMScore(),
		priority:  RaisePriority(),
		slow:      slow,
		procs:     map[int]*childProcess{},
		sessions:  map[int]stepSession{},
		attempts:  map[string]*attemptProcesses{},
		groups:    map[string]*attemptProcesses{},
		orphans:   map[int]*orphan{},
		ownerless: map[int]*orphan{},
	}
	r.changed = sync.NewCond(&r.mu)
	go r.waitForChildren()
	return r, nil
}

// forkProcess runs start, which forks, and registers the process for a; a may be nil.
func (r *reaper) forkProcess(
	a *attemptProcesses, group bool, start func() (pid int, err error),
) (*childProcess, error) {
	defer r.forking.begin()()
	var pid int
	var err error
	r.oom.whileForking(func() { r.priority.Fork(func() { pid, err = start() }) })
	if err != nil {
		return nil, err
	}
	p := &childProcess{pid: pid, group: group, ended: make(chan processExit, 1), floor: ownMaxRSS()}
	r.mu.Lock()
	r.procs[pid] = p
	if a != nil {
		r.sessions[pid] = stepSession{of: a}
		a.sessions = append(a.sessions, pid)
	}
	r.mu.Unlock()
	select {
	case r.forked <- struct{}{}:
	default:
	}
	return p, nil
}

// ownMaxRSS is the most memory that this process has had, in bytes.
func ownMaxRSS() uint64 {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return uint64(r.Maxrss) << 10
}

// waitForChildren waits for processes, for ever. It looks before it reaps: while the dead leader of a process group is
// not waited for, the group's id is taken, so killing the rest of the group can hit no other process.
func (r *reaper) waitForChildren() {
	for {
		pid, err := waitAny()
		switch {
		case err == nil:
			r.reapProcess(pid)
		case err == unix.ECHILD:
			<-r.forked
		case err != unix.EINTR:
			panic(fmt.Sprintf("shepherd: waitid: %v", err))
		}
	}
}

// waitAny blocks until some child has ended and returns its id without reaping it.
func waitAny() (int, error) {
	var info struct {
		signo, errno, code, _ int32
		pid                   int32
		_                     [108]byte
	}
	_, _, e := syscall.Syscall6(syscall.SYS_WAITID, unix.P_ALL, 0, uintptr(unsafe.Pointer(&info)),
		unix.WEXITED|unix.WNOWAIT, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(info.pid), nil
}

func (r *reaper) reapProcess(pid int) {
	r.mu.Lock()
	p := r.procs[pid]
	if p == nil && r.orphans[pid] == nil {
		// An orphan, or forked a moment ago and not registered yet: wait for forks under way, then look again.
		r.mu.Unlock()
		r.forking.awaitBegun()
		r.mu.Lock()
		p = r.procs[pid]
		if p == nil && r.orphans[pid] == nil {
			if s, ok := procfs.ReadStat(pid); ok {
				r.classifyOrphan(s)
			}
		}
	}
	defer r.mu.Unlock()
	if p != nil && p.group {
		syscall.Kill(-pid, syscall.SIGKILL)
	}
	if s, ok := r.sessions[pid]; ok {
		r.sessions[pid] = stepSession{s.of, procfs.UptimeTicks()}
	}
	var o processExit
	_, err := syscall.Wait4(pid, &o.status, 0, &o.usage)
	if err == syscall.ECHILD && p == nil {
		r.forgetOrphan(pid) // a fork whose program could not be run: fork itself has waited for it
		return
	}
	if err != nil {
		panic(fmt.Sprintf("shepherd: wait for %d: %v", pid, err))
	}
	if p != nil {
		o.time = time.Now()
		delete(r.procs, pid)
		p.ended <- o
		return
	}
	if known := r.orphans[pid]; known != nil && known.owner != nil {
		known.owner.used.addWaited(&o.usage, 0)
	}
	r.forgetOrphan(pid)
}

// forgetOrphan forgets an orphan. Called with mu held.
func (r *reaper) forgetOrphan(pid int) {
	if o := r.orphans[pid]; o != nil {
		r.unassignOrphan(o, pid)
	}
	delete(r.orphans, pid)
	r.changed.Broadcast()
}

// updateOrphans updates orphans, once for all who want that at the same time: many attempts may end together. With
// nothing left over it costs one read.
func (r *reaper) updateOrphans() { r.adopting.runAfterCall(r.classifyUnknown) }

func (r *reaper) classifyUnknown() {
	strangers := r.unknownChildren()
	if len(strangers) == 0 {
		return
	}
	// Among them may be processes that are being forked right now. Once the forks under way are over, those are in procs.
	// A process that has got the id of one meanwhile has begun later.
	r.forking.awaitBegun()
	for batch := range slices.Chunk(strangers, adoptBatch) {
		r.mu.Lock()
		for _, s := range batch {
			if r.procs[s.PID] != nil || r.orphans[s.PID] != nil {
				continue
			}
			if now, ok := procfs.ReadStat(s.PID); ok && now.Start == s.Start {
				r.classifyOrphan(now)
			}
		}
		r.mu.Unlock()
	}
}

// adoptBatch is for how many orphans mu is held.
const adoptBatch = 100

// unknownChildren returns the shepherd's children that are neither procs nor orphans.
func (r *reaper) unknownChildren() (found []procfs.Stat) {
	r.mu.Lock() // while one is reaped the kernel may leave out another
	pids := r.listChildren()
	pids = slices.DeleteFunc(pids, func(pid int) bool { return r.procs[pid] != nil || r.orphans[pid] != nil })
	r.mu.Unlock()
	for _, pid := range pids {
		if s, ok := procfs.ReadStat(pid); ok {
			found = append(found, s)
		}
	}
	return found
}

// listChildren returns the shepherd's children.
func (r *reaper) listChildren() (pids []int) {
	var buf [4096]byte
	b := buf[:0]
	for {
		n, err := syscall.Pread(r.children, b[len(b):cap(b)], int64(len(b)))
		if err != nil || n == 0 {
			break
		}
		if b = b[:len(b)+n]; len(b) == cap(b) {
			b = append(b, 0)[:len(b)] // grow
		}
	}
	for word := range bytes.FieldsSeq(b) {
		pids = append(pids, int(procfs.ParseUint(word)))
	}
	return pids
}

// addAttempt makes a known before its first fork.
func (r *reaper) addAttempt(a *attemptProcesses, spool string) {
	a.ticks = procfs.UptimeTicks()
	r.mu.Lock()
	a.spool = spool
	r.attempts[spool] = a
	r.mu.Unlock()
}

// addGroup makes a known as the one whose processes are in a control group.
func (r *reaper) addGroup(a *attemptProcesses, group string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.group = group
	r.groups[group] = a
}

// killRemaining kills whatever is left of a, waits until it is gone, and forgets a. False: some of it could not be
// killed within patience (a process in uninterruptible sleep).
func (r *reaper) killRemaining(a *attemptProcesses, patience time.Duration) bool {
	late := false
	defer time.AfterFunc(patience, func() {
		r.mu.Lock()
		late = true
		r.mu.Unlock()
		r.changed.Broadcast()
	}).Stop()
	r.mu.Lock()
	a.leaving = true // from now on each is killed when it is found
	for pid := range a.orphans {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	// The children of one that dies come to light when it is dead: nothing is left when a look that began with nothing
	// left finds nothing.
	for found := -1; found != a.found && !late; {
		for len(a.orphans) > 0 && !late {
			r.changed.Wait()
		}
		found = a.found
		r.mu.Unlock()
		r.updateOrphans()
		r.findMarkers(a)
		r.mu.Lock()
	}
	defer r.mu.Unlock()
	delete(r.attempts, a.spool)
	delete(r.groups, a.group)
	for _, pid := range a.sessions {
		if r.sessions[pid].of == a {
			delete(r.sessions, pid)
		}
	}
	for pid, o := range r.ownerless {
		r.decideOwner(pid, o)
	}
	return len(a.orphans) == 0
}

// claimOrphans makes a the owner of orphans that are known to be its.
func (r *reaper) claimOrphans(a *attemptProcesses, pids []int) {
	r.updateOrphans()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, pid := range pids {
		if o := r.orphans[pid]; o != nil {
			r.assignOrphan(o, a, pid)
		}
	}
}

// findRoots updates the orphans of a and returns its roots.
func (r *reaper) findRoots(a *attemptProcesses) (roots []int, groups map[int]bool) {
	r.updateOrphans()
	r.findMarkers(a)
	return r.knownRoots(a)
}

// knownRoots returns the processes from which all of a's descend, as far as its orphans are known, and those of its
// sessions whose leader lives.
func (r *reaper) knownRoots(a *attemptProcesses) (roots []int, groups map[int]bool) {
	groups = map[int]bool{}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, pid := range a.sessions {
		if r.procs[pid] != nil && r.sessions[pid].of == a {
			groups[pid] = true
			roots = append(roots, pid)
		}
	}
	for pid := range a.orphans {
		roots = append(roots, pid)
	}
	return roots, groups
}

// signalAttempt sends sig to every process of a: to the process groups of its steps at once, to the others one by one.
func (r *reaper) signalAttempt(a *attemptProcesses, sig syscall.Signal) {
	roots, groups := r.findRoots(a)
	if sig == syscall.SIGSTOP || sig == syscall.SIGCONT { // others end them at the end of the attempt
		roots = append(roots, a.livingAdopted()...)
	}
	r.mu.Lock()
	for pid := range groups {
		if r.procs[pid] != nil { // not reaped meanwhile: the id is still its own
			syscall.Kill(-pid, sig)
		}
	}
	r.mu.Unlock()
	procfs.WalkTree(roots, func(s procfs.Stat) {
		if !groups[s.Group] {
			procfs.SignalExactly(s.PID, s.Start, sig)
		}
	})
}
