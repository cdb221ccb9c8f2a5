package bus

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// rateLimitedLogger bounds what users make the server write to its log: the messages about each of them have a rate of
// their own, so that none can fill a disk or hide what others do. Of what is left out, a message says how much.
type rateLimitedLogger struct {
	Logger
	mu sync.Mutex
	of map[string]*logAllowance
}

// logAllowance is what may be logged about one user.
type logAllowance struct {
	rate *rate.Limiter
	left int // messages left out that no message says yet
}

// Bounds of a rateLimitedLogger.
const (
	logRate         = rate.Limit(1)    // messages a second about one user
	logBurst        = 50               // at once
	logUsers        = 1000             // of which allowances are kept
	logOmittedAfter = 10 * time.Second // from the first message left out to the one that says how many were
)

// newRateLimitedLogger returns a Logger before another one; nil for nil.
func newRateLimitedLogger(to Logger) Logger {
	if to == nil {
		return nil
	}
	return &rateLimitedLogger{Logger: to, of: map[string]*logAllowance{}}
}

func (l *rateLimitedLogger) Warn(msg string, args ...any) {
	if l.allowsUser(userOfMessage(msg, args)) {
		l.Logger.Warn(msg, args...)
	}
}

func (l *rateLimitedLogger) Error(msg string, args ...any) {
	if l.allowsUser(userOfMessage(msg, args)) {
		l.Logger.Error(msg, args...)
	}
}

// allowsUser reports whether a message about a user may be logged, and counts it if not. "" is no user.
func (l *rateLimitedLogger) allowsUser(user string) bool {
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
		a = &logAllowance{rate: rate.NewLimiter(logRate, logBurst)}
		l.of[user] = a
	}
	if a.rate.Allow() {
		return true
	}
	if a.left++; a.left == 1 {
		time.AfterFunc(logOmittedAfter, func() { l.logOmitted(user, a) })
	}
	return false
}

// logOmitted logs how many messages about a user were left out.
func (l *rateLimitedLogger) logOmitted(user string, a *logAllowance) {
	l.mu.Lock()
	n := a.left
	a.left = 0
	l.mu.Unlock()
	l.Logger.Warn("messages left out", "user", user, "messages", n)
}

// userOfMessage returns the user that a message is about: its argument "user", or the user of the connection that the
// server names in its own messages; "" if it is about none.
func userOfMessage(msg string, args []any) string {
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

// Logger takes the server's messages: an hclog.Logger or *slog.Logger will do.
type Logger interface {
	Debug(msg string, args ...any)
	Info(msg string, args ...any)
	Warn(msg string, args ...any)
	Error(msg string, args ...any)
}
