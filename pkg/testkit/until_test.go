package testkit

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// failing notes how a test would have failed.
type failing struct{ text string }

func (f *failing) Fatalf(format string, args ...any) { f.text = fmt.Sprintf(format, args...) }

func TestUntil(t *testing.T) {
	looks := 0
	Until(t, "three looks", Patience, func() (bool, string) {
		looks++
		return looks == 3, ""
	})
	if looks != 3 {
		t.Errorf("%d looks", looks)
	}
	var f failing
	Until(&f, "a miracle", time.Millisecond, func() (bool, string) { return false, "nothing" })
	if !strings.HasPrefix(f.text, "a miracle: not within 1ms; last seen:\nnothing") {
		t.Errorf("%q", f.text)
	}
}
