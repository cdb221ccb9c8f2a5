package shepherd

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/quill-grid/quill/execd/plan"
	"github.com/quill-grid/quill/execd/procfs"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// recoverJournal reads the journal of the previous shepherd. Attempts that have ended are reported again; those that
// had begun are over, since their end can no longer be observed: what is left of them is killed and removed, and they
// are reported with report.FailedNoStatus. It returns the records to start a new journal with.
func (k *shepherd) recoverJournal() ([]journalRecord, error) {
	old, damaged, err := readJournal(filepath.Join(k.dir, journalName))
	if err != nil {
		return nil, err
	}
	if damaged > 0 {
		k.logf("journal: %d damaged records skipped", damaged)
	}
	open := map[report.Attempt]*beginRecord{}
	pids := map[report.Attempt]*processRecord{}
	for _, r := range old {
		switch {
		case r.Begin != nil:
			k.left = withoutPaths(k.left, r.Begin.Remove)
			if k.attempts[r.Begin.Attempt] == nil { // else repeated by a compaction
				open[r.Begin.Attempt] = r.Begin
			}
		case r.Seen != nil:
			pids[r.Seen.Attempt] = r.Seen
		case r.End != nil:
			delete(open, r.End.Attempt)
			k.restoreEnded(r.End)
		default:
			k.left = append(k.left, r.Left...)
			for _, key := range r.Forget {
				delete(open, key)
				delete(k.attempts, key)
			}
		}
	}
	k.killLostProcesses(open, pids)
	for key, b := range open {
		removeCgroup(b.Cgroup, b.JobCgroup)
		lost := endRecord{Attempt: key, End: plan.End{Result: report.Result{
			Start: b.Time, End: grid.TimeOf(time.Now()), Failed: report.FailedNoStatus, Text: "the shepherd of the job died",
		}}}
		if b.Boot != k.boot {
			lost.End.Text = "the host went down without shutdown of the job: power failure, crash or forced shutdown"
		}
		if left, why := k.removeFor(procfs.UnknownUser, b.Remove, sweepPatience); len(left) > 0 {
			k.left = append(k.left, left...)
			if why != nil {
				lost.End.Left = why.Error()
			}
		}
		if s := pids[key]; s != nil {
			lost.Pid = s.Pid
		}
		k.restoreEnded(&lost)
	}
	k.slow.Within(procfs.UnknownUser, sweepPatience, k.retryRemovals, func() {})
	return k.liveRecords(), nil
}

// restoreEnded adds an attempt that has ended before.
func (k *shepherd) restoreEnded(r *endRecord) {
	a := k.newAttempt(plan.Plan{Attempt: r.Attempt}, false)
	a.now = plan.Status{Attempt: r.Attempt, State: plan.Ended, Pid: r.Pid, Start: r.End.Start, End: &r.End}
	close(a.done)
	k.attempts[r.Attempt] = a
}

// liveRecords returns what a journal must hold for the attempts there are.
func (k *shepherd) liveRecords() []journalRecord {
	k.mu.Lock()
	defer k.mu.Unlock()
	records := make([]journalRecord, 0, len(k.attempts)+1)
	if len(k.left) > 0 {
		records = append(records, journalRecord{Left: k.left})
	}
	for _, a := range k.attempts {
		if a.now.State == plan.Ended {
			records = append(records, journalRecord{End: &endRecord{a.key, a.now.Pid, *a.now.End}})
			continue
		}
		records = append(records, journalRecord{Begin: a.begin})
		if s, ok := procfs.ReadStat(a.now.Pid); ok && a.now.Pid > 0 {
			records = append(records, journalRecord{Seen: &processRecord{a.key, a.now.Pid, s.Start}})
		}
	}
	return records
}

// killLostProcesses kills the processes of attempts that had begun: those of its users that carry the marker of one,
// those in the session of a job whose first process still lives, and all their descendants.
func (k *shepherd) killLostProcesses(open map[report.Attempt]*beginRecord, pids map[report.Attempt]*processRecord) {
	spools := map[string]*beginRecord{}
	sessions := map[int]bool{}
	for key, b := range open {
		if b.Boot != k.boot {
			continue // nothing survives a reboot
		}
		spools[b.Spool] = b
		if b.Cgroup != "" {
			killCgroup(b.Cgroup)
		}
		if s := pids[key]; s != nil {
			if now, ok := procfs.ReadStat(s.Pid); ok && now.Start == s.Ticks {
				sessions[s.Pid] = true
			}
		}
	}
	if len(spools) == 0 {
		return
	}
	for deadline := time.Now().Add(sweepPatience); time.Now().Before(deadline); time.Sleep(lostPause) {
		var roots []int
		entries, _ := os.ReadDir("/proc")
		marked := map[uint32][]int{} // processes that may be, by user
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil || pid == os.Getpid() {
				continue
			}
			s, ok := procfs.ReadStat(pid)
			switch {
			case !ok || s.State == 'Z':
			case sessions[s.Session]:
				roots = append(roots, pid)
			default:
				uid := procfs.UserOf(pid)
				marked[uid] = append(marked[uid], pid)
			}
		}
		for uid, pids := range marked {
			roots = append(roots, k.markedProcesses(uid, pids, spools)...)
		}
		if len(roots) == 0 {
			return
		}
		procfs.WalkTree(roots, func(s procfs.Stat) { procfs.SignalExactly(s.PID, s.Start, syscall.SIGKILL) })
	}
}

// markedProcesses returns those processes of a user that carry the marker of one of the user's lost attempts.
func (k *shepherd) markedProcesses(uid uint32, pids []int, spools map[string]*beginRecord) []int {
	var roots []int
	look := func() {
		buf := make([]byte, environMax)
		for _, pid := range pids {
			if b := spools[markerOf(pid, buf)]; b != nil && slices.Contains(b.UIDs, uid) {
				roots = append(roots, pid)
			}
		}
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(spools)), func(b *beginRecord) bool {
		return slices.Contains(b.UIDs, uid)
	}) || !k.slow.Within(uid, quickPatience, look, func() {}) {
		return nil
	}
	return roots
}

// lostPause is how long killed processes get to go before it is looked again.
const lostPause = 10 * time.Millisecond
