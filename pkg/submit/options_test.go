package submit

import (
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/switches"
)

// TestTables: each switch stands once in its table, does something or says
// why not, and has its arguments described when it is in the help.
func TestTables(t *testing.T) {
	for _, c := range []*switches.Command[Submission]{Qsub(Origin{}), Qalter(Origin{}), Qrsh(Origin{}), Qlogin(Origin{})} {
		seen := map[string]bool{}
		for _, s := range c.Switches {
			if seen[s.Name] {
				t.Errorf("%s -%s stands twice in the table", c.Name, s.Name)
			}
			seen[s.Name] = true
			if s.Name != "help" && (s.Set == nil) == (s.Refused == "") {
				t.Errorf("%s -%s must either do something or be refused", c.Name, s.Name)
			}
			if s.Help != "" && (s.Take == nil) != (s.Args == "") && s.Refused == "" {
				t.Errorf("%s -%s: its arguments and their description disagree", c.Name, s.Name)
			}
		}
	}
}

func BenchmarkQsubWords(b *testing.B) {
	c := Qsub(Here(nil))
	words := strings.Fields("-terse -N x -cwd -l a=1,b=2 -pe mpi 4-8 -q all.q -b y sleep 10")
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Parse(c.New(words), words); err != nil {
			b.Fatal(err)
		}
	}
}

// TestDirectoryGone: -cwd is refused where there is no working directory any more.
func TestDirectoryGone(t *testing.T) {
	c, words := Qsub(Origin{}), []string{"-cwd", "-b", "y", "sleep"}
	err := c.Parse(c.New(words), words)
	if err == nil || err.Error() != "cannot read current working directory" {
		t.Errorf("%v", err)
	}
}
