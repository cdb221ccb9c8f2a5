package grid

import "testing"

func TestClosingBracket(t *testing.T) {
	for text, want := range map[string]int{"[a]": 2, "[a[b]c],d]": 6, "[a": -1, "a]": -1, "": -1, "]": -1, "[]]": 1} {
		if at := ClosingBracket(text); at != want {
			t.Errorf("%q: %d, not %d", text, at, want)
		}
	}
}
