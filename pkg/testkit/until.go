package testkit

import "time"

// T is what a test fails by; testscript has one of its own.
type T interface {
	Fatalf(format string, args ...any)
}

// Patience is how long a test waits for something that takes a moment, on a machine
// that has much else to do. Only what never happens takes as long.
const Patience = 2 * time.Minute

// pause is between two looks: short to begin with, as mostly little is missing.
const (
	firstPause = time.Millisecond
	mostPause  = 30 * time.Millisecond
)

// Until calls look again and again until it returns done. After patience the test fails
// with a message of what was waited for and what look saw last.
func Until(t T, what string, patience time.Duration, look func() (done bool, saw string)) {
	if t, ok := t.(interface{ Helper() }); ok {
		t.Helper()
	}
	deadline := time.Now().Add(patience)
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		done, saw := look()
		if done {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v; last seen:\n%s", what, patience, saw)
			return
		}
		time.Sleep(pause)
	}
}
