package bus

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lines is a Logger that keeps what it is given.
type lines struct {
	Logger
	mu  sync.Mutex
	all []string
}

func (l *lines) Warn(msg string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, fmt.Sprintln(msg, args))
}

// takeLines returns what there is, and forgets it.
func (l *lines) takeLines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

func (l *lines) Error(msg string, args ...any) { l.Warn(msg, args...) }

// TestRateLimitedLogger: a user who does what is refused again and again cannot fill the log: it says how many messages
// were left out. What others do, and what the server says of itself, is logged.
func TestBoundedLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &lines{}
		log := newRateLimitedLogger(out)
		for i := range 10_000 {
			log.Error(
				fmt.Sprintf(`pipe - cid:%d - "v1" - "$G/user:u-mallory" - Publish Violation - Subject "ge.ord.%d"`, i%7, i))
		}
		if n := len(out.takeLines()); n != logBurst {
			t.Errorf("%d messages about mallory", n)
		}
		for range 10_000 {
			log.Warn("connection refused", "address", "192.0.2.1:99", "user", "user eve", "reason", "busy")
			log.Error("store is full")
		}
		if n := len(out.takeLines()); n != logBurst+10_000 {
			t.Errorf("%d messages about eve and the server", n)
		}
		time.Sleep(logOmittedAfter)
		synctest.Wait()
		got, want := out.takeLines(), []string{"messages left out [user u-mallory messages 9950]\n",
			"messages left out [user user eve messages 9950]\n"}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("told: %q", got)
		}
		log.Error(`"$G/user:u-mallory"`)
		if len(out.takeLines()) != 1 {
			t.Error("a message about mallory later is left out")
		}
	})
}

// TestRateLimitedLoggerOfManyUsers: allowances of users do not grow without bound, and what was left out is logged all
// the same.
func TestBoundedLogOfManyUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &lines{}
		log := newRateLimitedLogger(out).(*rateLimitedLogger)
		for range logBurst + 5 {
			log.Warn("connection refused", "user", "first")
		}
		for i := range 3 * logUsers {
			log.Warn("connection refused", "user", fmt.Sprint(i))
		}
		if len(log.of) > logUsers {
			t.Errorf("allowances of %d users", len(log.of))
		}
		out.takeLines()
		time.Sleep(logOmittedAfter)
		synctest.Wait()
		if got := out.takeLines(); len(got) != 1 || got[0] != "messages left out [user first messages 5]\n" {
			t.Errorf("told: %q", got)
		}
	})
}
