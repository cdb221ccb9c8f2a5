package shepherd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/pkg/report"
)

// A log-in of a user beside a job (ssh) is made part of it: its processes have the job's limits, count as the job's and end with it.

// guest is a process that was adopted by an attempt without a control group.
type guest struct {
	pid   int
	start uint64
}

// adopt makes a process, and all that it starts from now on, part of the newest job of a user. It fails when none runs, or the
// process is not the parent of the one that asks: another may have its id by then.
func (k *shepherd) adopt(uid uint32, pid, asker int) (report.Attempt, error) {
	if s, ok := readStat(asker); !ok || s.parent != pid {
		return report.Attempt{}, fmt.Errorf("process %d is not the parent of process %d", pid, asker)
	}
	a, in := k.newestOf(uid)
	if a == nil {
		return report.Attempt{}, fmt.Errorf("no job of the user runs on this host")
	}
	a.joining.Lock()
	defer a.joining.Unlock()
	if a.closed { // nothing would end the process
		return report.Attempt{}, fmt.Errorf("job %s has ended", a.key)
	}
	if in != "" {
		if err := writeGroup(in, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return report.Attempt{}, fmt.Errorf("cannot join the control group of job %s: %w", a.key, err)
		}
		return a.key, nil
	}
	s, ok := readStat(pid)
	if !ok {
		return report.Attempt{}, fmt.Errorf("process %d has ended", pid)
	}
	a.guests = append(a.guests, guest{pid, s.start})
	return a.key, nil
}

// close lets no process join the attempt from now on.
func (a *attempt) close() {
	a.joining.Lock()
	defer a.joining.Unlock()
	a.closed = true
}

// newestOf returns the attempt of a user that began last of those that run, and its control group.
func (k *shepherd) newestOf(uid uint32) (newest *attempt, group string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range k.attempts {
		if a.now.State != plan.Running || a.plan.Owner.UID != uid {
			continue
		}
		if newest == nil || a.now.Start > newest.now.Start || a.now.Start == newest.now.Start && a.key.Compare(newest.key) > 0 {
			newest, group = a, a.plan.Cgroup.Path
		}
	}
	return newest, group
}

// living returns the processes that a has adopted and that live, and forgets the others.
func (a *attempt) living() (pids []int) {
	a.joining.Lock()
	defer a.joining.Unlock()
	a.guests = slices.DeleteFunc(a.guests, func(g guest) bool {
		s, ok := readStat(g.pid)
		return !ok || s.start != g.start
	})
	for _, g := range a.guests {
		pids = append(pids, g.pid)
	}
	return pids
}

// dismiss ends what an attempt without a control group has adopted. Each process is stopped before its children are read: one that
// had ended would have none, and they would be found no more.
func (a *attempt) dismiss() {
	var all []stat
	descend(a.living(), func(s stat) {
		killExactly(s.pid, s.start, syscall.SIGSTOP)
		all = append(all, s)
	})
	for _, s := range all {
		killExactly(s.pid, s.start, syscall.SIGKILL)
	}
}

// Adopt makes the parent of this process part of the newest job of a user that runs under the shepherd of dir, and returns that. It
// starts no shepherd: without one no job runs.
func Adopt(ctx context.Context, dir string, uid uint32, parent int) (report.Attempt, error) {
	c, err := dial(ctx, dir)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ECONNREFUSED):
		return report.Attempt{}, errors.New("no job runs on this host")
	case err != nil:
		return report.Attempt{}, err
	}
	// Who chooses the directory by a variable must not answer in place of the shepherd.
	if peer, err := credentialsOf(c.(*net.UnixConn)); err != nil || peer.Uid != 0 && int(peer.Uid) != os.Geteuid() {
		c.Close()
		return report.Attempt{}, fmt.Errorf("%s: no shepherd of root answers", dir)
	}
	k := open(c, Options{Dir: dir})
	defer k.Close()
	r, err := k.call(ctx, request{Verb: verbAdopt, UID: uid, Pid: parent})
	return r.Joined, err
}

// Under returns the directory of the shepherd below the spool directory of an execd.
func Under(spool string) string { return filepath.Join(spool, "shepherd") }

// peerPid returns the process at the other end of a connection, 0 when it is not known.
func peerPid(c net.Conn) int {
	if peer, err := credentialsOf(c.(*net.UnixConn)); err == nil {
		return int(peer.Pid)
	}
	return 0
}
