package bus

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// boundedLog bounds what users make the server write to its log: the messages about each of them
// have a rate of their own, so that none can fill a disk or hide what others do. Of what is left out, a message says how much.
type boundedLog struct {
	Logger
	mu sync.Mutex
	of map[string]*allowance
}

// allowance is what may be logged about one user.
type allowance struct {
	rate *rate.Limiter
	left int // messages left out that no message says yet
}

// Bounds of a boundedLog.
const (
	logRate  = rate.Limit(1)    // messages a second about one user
	logBurst = 50               // at once
	logUsers = 1000             // of which allowances are kept
	logTell  = 10 * time.Second // from the first message left out to the one that says how many were
)

// newBoundedLog returns a Logger before another one; nil for nil.
func newBoundedLog(to Logger) Logger {
	if to == nil {
		return nil
	}
	return &boundedLog{Logger: to, of: map[string]*allowance{}}
}

func (l *boundedLog) Warn(msg string, args ...any) {
	if l.allows(about(msg, args)) {
		l.Logger.Warn(msg, args...)
	}
}

func (l *boundedLog) Error(msg string, args ...any) {
	if l.allows(about(msg, args)) {
		l.Logger.Error(msg, args...)
	}
}

// allows reports whether a message about a user may be logged, and counts it if not. "" is no user.
func (l *boundedLog) allows(user string) bool {
	if user == "" {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.of[user]
	if a == nil {
		if len(l.of) >= logUsers {
			clear(l.of) // the timers have what was left out
		}
		a = &allowance{rate: rate.NewLimiter(logRate, logBurst)}
		l.of[user] = a
	}
	if a.rate.Allow() {
		return true
	}
	if a.left++; a.left == 1 {
		time.AfterFunc(logTell, func() { l.logOmitted(user, a) })
	}
	return false
}

// logOmitted logs how many messages about a user were left out.
func (l *boundedLog) logOmitted(user string, a *allowance) {
	l.mu.Lock()
	n := a.left
	a.left = 0
	l.mu.Unlock()
	l.Logger.Warn("messages left out", "user", user, "messages", n)
}

// about returns the user that a message is about: its argument "user", or the user of the connection that the server names in
// its own messages; "" if it is about none.
func about(msg string, args []any) string {
	for i := 0; i+1 < len(args); i += 2 {
		if args[i] == "user" {
			return fmt.Sprint(args[i+1])
		}
	}
	if _, rest, found := strings.Cut(msg, "/user:"); found {
		user, _, _ := strings.Cut(rest, `"`)
		return user
	}
	return ""
}
