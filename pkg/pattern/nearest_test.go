package pattern

import (
	"slices"
	"testing"
)

func TestSuggest(t *testing.T) {
	names := []string{"all.q", "alt.q", "long.q", "gpu.q@node12", "make", "x"}
	for unknown, want := range map[string]string{
		"al.q": "all.q", "All.q": "all.q", "lal.q": "all.q", "logn.q": "long.q", "mak": "make", "mek": "", "make": "",
		"gpu.q@node21": "gpu.q@node12",
		"short.q":      "", "zz": "", "y": "", "": "",
	} {
		if want != "" {
			want = "did you mean " + want + "?"
		}
		if got := Suggest(unknown, func(yield func(string) bool) { slices.Values(names)(yield) }); got != want {
			t.Errorf("%s: %q, not %q", unknown, got, want)
		}
	}
}
