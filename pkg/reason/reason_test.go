package reason

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestCodesKeepTheirMeaning: testdata/codes.txt has the numbers and names that were ever stored or shown.
func TestCodesKeepTheirMeaning(t *testing.T) {
	var b strings.Builder
	for _, c := range Codes() {
		fmt.Fprintf(&b, "%d %s %s\n", uint8(c), c, c.Slurm())
	}
	want, err := os.ReadFile("testdata/codes.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), string(want)) {
		t.Errorf("codes are added at the end and never changed; they are now\n%s", b.String())
	}
	if got := strings.Count(b.String(), "\n"); got != len(table)-1 {
		t.Errorf("%d of %d codes have a name", got, len(table)-1)
	}
}

// TestPageHasAllCodes: the event protocol lists each code as it is.
func TestPageHasAllCodes(t *testing.T) {
	page, err := os.ReadFile("../../events/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Codes() {
		row := fmt.Sprintf("| %d | `%s` | `%s` | %s |\n", uint8(c), c, c.Slurm(),
			Reason{Code: c, Object: "OBJECT", What: "WHAT", Offer: "OFFER"})
		if !strings.Contains(string(page), row) {
			t.Errorf("events/README.md does not have\n%s", row)
		}
	}
}

// TestEveryCodeIsComplete: each has texts without a gap left, and a role for its remedy.
func TestEveryCodeIsComplete(t *testing.T) {
	names := map[string]bool{}
	for _, c := range Codes() {
		r := Reason{Code: c, Object: "all.q@h1", What: "h_rt=100", Offer: "it offers only hc:mem=1.000G", Slots: 3}
		what, who := r.Remedy()
		switch {
		case r.String() == "" || strings.ContainsAny(r.String()+what, "{}"):
			t.Errorf("%s: %q, %q", c, r, what)
		case (what == "") != (who == ""):
			t.Errorf("%s: %q by %q", c, what, who)
		case names[c.String()]:
			t.Errorf("%s names two codes", c)
		case c.Slurm() == "":
			t.Errorf("%s has no name in Slurm", c)
		}
		names[c.String()] = true
	}
	if later := (Reason{Code: Code(len(table))}); later.String() != fmt.Sprintf("reason %d", len(table)) {
		t.Errorf("a reason of a later version: %q", later)
	}
}
