package core

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// leaveSeconds is how long an execution daemon may take to stop: it
// sees jobs off that continue elsewhere.
const leaveSeconds = 120

// resendSeconds is how long a host may take to confirm before it is sent
// again.
const resendSeconds = 5

// hostTalks are the hosts that something was sent to or received from since this qmaster began.
type hostTalks map[string]*hostTalk

// hostTalk is what was sent to a host and received from it. Commands write the times, reports the rest.
type hostTalk struct {
	contact grid.Time // when qmaster last received something from the host
	// leaving: until then reports of the host do not count as contact, because its
	// execution daemon was sent the command to stop, or said that it ends.
	leaving grid.Time
	ended   grid.Time  // when its execution daemon said that it ends; 0: not, or it has said hello since
	load    *grid.Load // the latest load, until the next tick emits it
	// listed: the host has reported all its attempts to this qmaster.
	listed bool
	// announced is when the host was sent this qmaster's epoch alone.
	announced grid.Time
	// instructed is when the host was sent its configuration.
	instructed grid.Time
	// unconfirmed are tasks that a command was sent for, and when.
	unconfirmed map[grid.Key]grid.Time
	// last is the last command for a task whose commands before it all came back; of other tasks there is none.
	last map[grid.Key]lastSent
	// limited are tasks that were sent other limits, and when.
	limited map[grid.Key]grid.Time
	// forgotten are the host's attempts that a restored state does not know, as they were reported to the administrator.
	forgotten map[report.Attempt]Forgotten
}

// lastSent is the last command that was sent for a task by this process.
type lastSent struct {
	number uint64
	back   bool // it came back: it is lost
}

// of returns what was sent to a host and received from it.
func (o hostTalks) of(h string) *hostTalk {
	t := o[h]
	if t == nil {
		t = &hostTalk{unconfirmed: map[grid.Key]grid.Time{}, last: map[grid.Key]lastSent{}, limited: map[grid.Key]grid.Time{}}
		o[h] = t
	}
	return t
}

// noteSent notes that a command was sent for a task.
func (t *hostTalk) noteSent(key grid.Key, number uint64, now grid.Time) {
	if _, again := t.unconfirmed[key]; again && !t.last[key].back {
		delete(t.last, key) // an earlier one may have been received
	} else {
		t.last[key] = lastSent{number: number}
	}
	t.unconfirmed[key] = now
}

// noteBack notes that a command came back. It returns the tasks that nothing was sent for but such commands.
func (t *hostTalk) noteBack(number uint64) (lost []grid.Key) {
	for key, last := range t.last {
		if last.number == number {
			t.last[key] = lastSent{number: number, back: true}
			lost = append(lost, key)
		}
	}
	slices.SortFunc(lost, grid.Key.Compare)
	return lost
}

// confirm notes that nothing has to be sent for a task any more.
func (t *hostTalk) confirm(key grid.Key) {
	delete(t.last, key)
	delete(t.unconfirmed, key)
}

func sortedKeys(o hostTalks) []string {
	out := make([]string, 0, len(o))
	for h := range o {
		out = append(out, h)
	}
	slices.Sort(out)
	return out
}

func sortedTasks(m map[grid.Key]grid.Time) []grid.Key {
	out := make([]grid.Key, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.SortFunc(out, grid.Key.Compare)
	return out
}

// uptake is what becomes of a task's report.
type uptake uint8

const (
	unknown uptake = iota // qmaster does not know this attempt: execd is to drop it
	taken
	later // the host has to report it again: the end of a job, while its PE tasks have yet to end
)
