package qmaster

import (
	"errors"
	"testing"

	"github.com/quill-grid/quill/pkg/frame"
)

// A qmaster whose lease has ended sends nothing more, not even what became durable before, nor after a late renewal: an answer that
// was dropped is never followed by a later one.
func TestOutboxOfDeposed(t *testing.T) {
	leads, left := true, 0
	var failures []error
	b := &outbox{
		facts: accountingFiles{&accounting{absent: true}, &accounting{absent: true}}, reporting: newReporting("", "", nil),
		failed: func(err error) { failures = append(failures, err) }, leads: func() bool { return leads }, durable: frame.Point{Seq: 9},
	}
	for i, does := range []bool{true, false, true} {
		leads = does
		b.put(outcome{seq: uint64(i + 1), leave: func() { left++ }})
	}
	if left != 1 || len(failures) != 1 || !errors.Is(failures[0], errDeposed) {
		t.Errorf("%d of 1 have left: %v", left, failures)
	}
}
