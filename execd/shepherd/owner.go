package shepherd

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/procfs"
)

// Which attempt an orphan belongs to is decided from what only the kernel can say: its control group, its session, its
// user ids and its start. What the process itself could have written, the marker in its environment, decides between
// attempts of its own user and no others: a process of one user is never another user's, whatever it says.

// orphan is an adopted process. Without owner it may belong to any attempt of its user that was alive when it started,
// and goes with the last of them.
type orphan struct {
	owner   *attemptProcesses
	start   uint64
	session int
	user    uint32 // its real one: a program that runs with the rights of another was started by this user

	marker string // as far as it was found in its environment
	looks  int    // for it
}

// looksMax bounds how often a marker is looked for: a process that executes another program has no environment at that
// moment.
const looksMax = 3

// stepSession is the session of a step.
type stepSession struct {
	of *attemptProcesses
	// when its leader had ended, on the clock of stat.Start; 0: it lives. After that another process can get its id.
	ended uint64
}

// runsAs reports whether the attempt has steps that run as a user.
func (a *attemptProcesses) runsAs(uid uint32) bool {
	return slices.Contains(a.users, uid)
}

// classifyOrphan makes a child of the shepherd that it did not fork an orphan. Called with mu held, when all forks that
// may have made it are over.
func (r *reaper) classifyOrphan(s procfs.Stat) {
	if s.Parent != os.Getpid() {
		return
	}
	o := &orphan{start: s.Start, session: s.Session, user: procfs.UserOf(s.PID)}
	r.orphans[s.PID] = o
	r.ownerless[s.PID] = o
	r.decideOwner(s.PID, o)
}

// decideOwner finds the owner of an orphan. One that no living attempt can have started is killed. A dead one is in its
// control group until it is waited for. Called with mu held.
func (r *reaper) decideOwner(pid int, o *orphan) {
	owner := r.ownerOfGroup(pid)
	if s, ok := r.sessions[o.session]; ok && owner == nil && (s.ended == 0 || o.start < s.ended) {
		owner = s.of
	}
	if owner != nil {
		r.assignOrphan(o, owner, pid)
		return
	}
	suspects := 0
	for _, a := range r.attempts {
		if a.ticks > o.start || !a.runsAs(o.user) {
			continue
		}
		if owner = a; o.marker == a.spool {
			r.assignOrphan(o, a, pid)
			return
		}
		suspects++
	}
	switch {
	case suspects == 0 || o.marker != "" && r.attempts[o.marker] == nil: // of an attempt that is over
		syscall.Kill(pid, syscall.SIGKILL)
	case suspects == 1:
		r.assignOrphan(o, owner, pid)
	}
}

// assignOrphan makes a the owner of an orphan, which is killed when a is about to end. Called with mu held.
func (r *reaper) assignOrphan(o *orphan, a *attemptProcesses, pid int) {
	r.unassignOrphan(o, pid)
	o.owner = a
	if a.orphans == nil {
		a.orphans = map[int]*orphan{}
	}
	a.orphans[pid] = o
	a.found++
	if a.leaving {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// unassignOrphan takes an orphan from its owner. Called with mu held.
func (r *reaper) unassignOrphan(o *orphan, pid int) {
	if o.owner != nil {
		delete(o.owner.orphans, pid)
	}
	delete(r.ownerless, pid)
}

// ownerOfGroup returns the attempt in whose control group a process is, or in a group within it; nil for none. Called
// with mu held.
func (r *reaper) ownerOfGroup(pid int) *attemptProcesses {
	if len(r.groups) == 0 {
		return nil
	}
	group, err := cgroupOf(pid)
	if err != nil {
		return nil
	}
	for ; len(group) > 1; group = filepath.Dir(group) {
		if a := r.groups[group]; a != nil {
			return a
		}
	}
	return nil
}

// isUnmarked reports whether the marker of an orphan decides and is still to be looked for.
func (o *orphan) isUnmarked() bool { return o.owner == nil && o.marker == "" && o.looks < looksMax }

// findAllMarkers looks for all markers, unless that is being done.
func (r *reaper) findAllMarkers() {
	if !r.looking.TryLock() {
		return
	}
	defer r.looking.Unlock()
	one := map[uint32]*attemptProcesses{} // of a user's
	r.mu.Lock()
	for _, o := range r.ownerless {
		for _, a := range r.attempts {
			if o.isUnmarked() && a.runsAs(o.user) {
				one[a.users[0]] = a
				break
			}
		}
	}
	r.mu.Unlock()
	for _, a := range one {
		r.findMarkers(a)
	}
}

// findMarkers reads the environments of orphans that may be a's, to find their markers. A user can make that take any
// time: it is done without a lock, and not waited for longer than for a file system.
func (r *reaper) findMarkers(a *attemptProcesses) {
	found := map[int]*orphan{}
	r.mu.Lock()
	for pid, o := range r.ownerless {
		if o.isUnmarked() && a.runsAs(o.user) {
			o.looks++
			found[pid] = &orphan{start: o.start}
		}
	}
	r.mu.Unlock()
	if len(found) == 0 {
		return
	}
	read := func() {
		buf := make([]byte, environMax)
		for pid, o := range found {
			o.marker = markerOf(pid, buf)
		}
	}
	if !r.slow.Within(a.users[0], quickPatience, read, func() {}) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for pid, seen := range found {
		if o := r.orphans[pid]; o != nil && o.owner == nil && o.start == seen.start {
			o.marker = seen.marker
			r.decideOwner(pid, o)
		}
	}
}

// usersOf returns the users of the steps of a plan, the owner first.
func usersOf(p *plan.Plan) []uint32 {
	uids := []uint32{p.Owner.UID}
	for i := range p.Steps {
		if as := p.Steps[i].As; as != nil && !slices.Contains(uids, as.UID) {
			uids = append(uids, as.UID)
		}
	}
	return uids
}
