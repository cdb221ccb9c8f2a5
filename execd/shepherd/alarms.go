package shepherd

import (
	"slices"
	"time"

	"github.com/quill-grid/quill/pkg/report"
)

// alarms are requests to be executed later, soonest first.
type alarms struct {
	due   []alarm
	timer *time.Timer
}

type alarm struct {
	at      time.Time
	request signalRequest
}

// addAfter adds an alarm; none when d is 0.
func (l *alarms) addAfter(d time.Duration, o signalRequest) {
	if d <= 0 {
		return
	}
	at := time.Now().Add(d)
	i := 0
	for i < len(l.due) && !l.due[i].at.After(at) {
		i++
	}
	l.due = append(l.due, alarm{})
	copy(l.due[i+1:], l.due[i:])
	l.due[i] = alarm{at, o}
}

// nextDue fires when the first alarm is due; nil, which never does, when there is none.
func (l *alarms) nextDue() <-chan time.Time {
	if len(l.due) == 0 {
		return nil
	}
	if l.timer == nil {
		l.timer = time.NewTimer(time.Until(l.due[0].at))
	} else {
		l.timer.Reset(time.Until(l.due[0].at))
	}
	return l.timer.C
}

func (l *alarms) removeFirst() signalRequest {
	o := l.due[0].request
	l.due = l.due[1:]
	return o
}

// hasAction reports whether an alarm for s is set.
func (l *alarms) hasAction(s action) bool {
	return slices.ContainsFunc(l.due, func(a alarm) bool { return a.request.action == s })
}

// dropAction removes the alarms for s.
func (l *alarms) dropAction(s action) {
	l.due = slices.DeleteFunc(l.due, func(a alarm) bool { return a.request.action == s })
}

func (l *alarms) stopTimer() {
	if l.timer != nil {
		l.timer.Stop()
	}
}

// action is what a request asks for: a plain signal number, which goes to every process of the job at once, or one of
// the negative constants here and in ckpt.go.
type action int

// Those that qmaster asks for by a report.SignalKind; they follow the plan's methods and its Notify.
const (
	suspend   = -action(report.Suspend)
	resume    = -action(report.Resume)
	terminate = -action(report.Terminate)
	migrate   = -action(report.Migrate) // ends the attempt as report.FailedMigrated
)

const (
	shutDown action = -10 // as terminate, by the shepherd itself: the host is shut down

	// The second half of a suspend or terminate that was announced by a notification signal.
	suspendNow   action = -11
	terminateNow action = -12
)

// signalRequest is a signal on its way to an attempt; limit names the limit that made the shepherd send it, if one did.
type signalRequest struct {
	action action
	limit  string
}

func seconds(n uint64) time.Duration { return time.Duration(min(n, 1<<33)) * time.Second }
