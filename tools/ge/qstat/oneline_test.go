package qstat

import (
	"strings"
	"testing"
)

// TestOneLine: arguments and variables of a user make no line of their own.
func TestOneLine(t *testing.T) {
	b := &fields{}
	b.some("job_args:", "a\nowner: root\x1b[2J")
	if got, want := strings.TrimSpace(b.String()), `a\nowner: root?[2J`; !strings.HasSuffix(got, want) ||
		strings.Contains(got, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}
