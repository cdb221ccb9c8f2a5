package opt

import (
	"strings"
	"testing"
)

// However a text is cut into writes, what comes out is the same and printable.
func TestPrintableOutput(t *testing.T) {
	const text, want = "job \x1b[2Jgrün\xff\n東\xe6京\n", "job ?[2Jgrün?\n東?京\n"
	for first := range len(text) {
		for second := first; second < len(text); second++ {
			var out strings.Builder
			env := Env{Stdout: &out, Stderr: &out}.Printable()
			for _, part := range []string{text[:first], text[first:second], text[second:]} {
				if n, err := env.Stdout.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatalf("wrote %d of %d: %v", n, len(part), err)
				}
			}
			if out.String() != want {
				t.Fatalf("cut at %d and %d: %q, want %q", first, second, &out, want)
			}
		}
	}
}
