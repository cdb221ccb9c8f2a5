package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestWords reads what templates say: start times as of Friday, 2026-11-20
// 22:16:17 +01:00, and paths.
func TestWords(t *testing.T) {
	now := time.Date(2026, 11, 20, 22, 16, 17, 0, time.FixedZone("", 3600))
	datadriven.RunTest(t, "testdata/words.txt", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			line = strings.TrimSuffix(line, "\n")
			switch d.Cmd {
			case "start":
				at, err := parseStartTime(line, now)
				if err != nil {
					fmt.Fprintf(&out, "%s  %s", line, formatError(err))
				} else {
					fmt.Fprintf(&out, "%s  %s\n", line, at.Format("2006-01-02 15:04:05 -07:00"))
				}
			case "path":
				var work string
				d.MaybeScanArgs(t, "work", &work)
				path, err := expandPath(line, work, d.HasArg("bulk"))
				if err != nil {
					path = strings.TrimSuffix(formatError(err), "\n")
				}
				fmt.Fprintf(&out, "%s  %s\n", line, path)
			}
		}
		return out.String()
	})
}

// TestLedger plays events to a ledger:
//
//	JOB ID [mine|other] FIRST-LAST [hold]   JOB_ADD, an array when there is more than one
//	TASK ID.TASK STATE                      JATASK_ADD, JATASK_MOD
//	END ID.TASK exit=N [failed=N] [again]   ACCOUNTING_ADD
//	GONE ID[.TASK]                          JATASK_DEL or JOB_DEL
//
// the lines of a step are one list. What is shown is where each task is. With
// full they are a full state, sent after the feed was broken.
func TestLedger(t *testing.T) {
	var l *sessionLedger
	datadriven.RunTest(t, "testdata/ledger.txt", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "session":
			l = newLedger("mine")
		case "full":
			printed := newLedger("mine")
			for i, e := range list(t, printed, d.Input) { // a piece each
				e.Op = events.OpList
				printed.Apply(events.List{Seq: uint64(i), Events: []events.Event{e}})
			}
			l.correct(printed)
		case "list":
			l.Apply(events.List{Seq: l.now.Seq + 1, Events: list(t, l, d.Input)})
		case "reap":
			id, err := parseID(d.Input)
			if err != nil {
				t.Fatal(err)
			}
			a := l.reap(id)
			if a == nil {
				return "nothing known\n"
			}
			return ended(statusOf(a)) + "\n"
		}
		return l.text()
	})
}

func list(t *testing.T, l *sessionLedger, input string) (list []events.Event) {
	for line := range strings.Lines(input) {
		w := strings.Fields(line)
		id, err := parseID(w[1])
		if err != nil {
			t.Fatal(err)
		}
		switch w[0] {
		case "JOB":
			j := &grid.Job{JobRequest: &grid.JobRequest{}, ID: id.job, Tasks: grid.Range{Step: 1},
				Spec: &grid.JobSpec{Session: w[2]}}
			fmt.Sscanf(w[3], "%d-%d", &j.Tasks.First, &j.Tasks.Last)
			j.Array = j.Tasks.Count() > 1
			j.Pending = grid.Ranges{j.Tasks}
			if len(w) > 4 {
				j.UserHold = j.Pending
			}
			list = append(list, events.Add(j))
		case "TASK":
			states := map[string]grid.JATask{
				"running":     {Status: grid.Running, State: grid.StateRunning},
				"transfering": {Status: grid.Transfering},
				"suspended":   {Status: grid.Running, State: grid.StateSuspended},
				"threshold":   {Status: grid.Running, State: grid.StateSuspendedThreshold | grid.StateSuspended},
				"error":       {Status: grid.Idle, State: grid.StateError},
				"deleted":     {Status: grid.Running, State: grid.StateRunning | grid.StateDeleted},
				"again":       {Status: grid.Idle},
			}
			task := states[w[2]]
			task.Job, task.ID = id.job, max(id.task, 1)
			if l.now.Task(id.job, task.ID) == nil {
				list = append(list, events.Add(&task))
			} else {
				list = append(list, events.Mod(&task))
			}
		case "END":
			a := &grid.Accounting{Job: id.job, Task: max(id.task, 1), Start: 1}
			for _, v := range w[2:] {
				fmt.Sscanf(v, "exit=%d", &a.ExitStatus)
				fmt.Sscanf(v, "failed=%d", &a.Failed)
				a.Rescheduled = a.Rescheduled || v == "again"
			}
			list = append(list, events.Add(a))
		case "GONE":
			if id.task > 0 {
				list = append(list, events.Del(grid.KindJATask, grid.Key{ID: id.job, Sub: id.task}))
			} else {
				list = append(list, events.Del(grid.KindJob, grid.Key{ID: id.job}))
			}
		default:
			t.Fatal(line)
		}
	}
	return list
}

// text is where each task is, and which have ended in what order.
func (l *sessionLedger) text() string {
	var out strings.Builder
	for id := uint32(1); id < 10; id++ {
		en := l.jobs[id]
		if en == nil {
			continue
		}
		for n := uint32(1); n < 10; n++ {
			name := en.name(n)
			if s, ok := l.state(name); ok && (en.array || n == 1) {
				fmt.Fprintf(&out, "%s %s\n", name, states[s])
			}
		}
	}
	if len(l.over) > 0 {
		fmt.Fprintln(&out, "over", l.over)
	}
	return out.String()
}
