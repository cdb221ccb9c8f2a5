package submit

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
)

// TestLongLists: lists of -ac and -v, in one option or in many, and the variables of a verifier cost memory in
// proportion to their length. A list that is copied for each of its values would cost 400 MB.
func TestLongLists(t *testing.T) {
	const most, values = 60 << 20, 5000
	origin := Here(nil)
	origin.Dir, origin.Environ = t.TempDir(), nil
	cost := func(name string, do func()) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > most {
			t.Errorf("%s: %d MB for %d values", name, n>>20, values)
		}
	}
	list := func(j *grid.Job, option string) grid.Values {
		if option == "-ac" {
			return j.Spec.Context
		}
		return j.Spec.Env.AsGiven()
	}
	var words []string
	for i := range values {
		words = append(words, fmt.Sprintf("k%d=%d", i, i))
	}
	check := func(name string, got grid.Values) {
		if n := len(got); n != values || got[0] != (grid.Value{Name: "k0", Text: "last"}) ||
			got[n-1] != (grid.Value{Name: "k4999", Text: "4999"}) {
			t.Errorf("%s: %d values, from %v", name, n, got[:min(n, 1)])
		}
	}
	var job *grid.Job
	for _, option := range []string{"-ac", "-v"} {
		var many []string
		for _, w := range words {
			many = append(many, option, w)
		}
		for name, line := range map[string][]string{
			"one " + option:  {option, strings.Join(words, ",")},
			"many " + option: many,
		} {
			cost(name, func() {
				s, err := Qsub(origin).New(append(line, option, "k0=last", "-b", "y", "true")).Complete()
				if err != nil {
					t.Fatal(err)
				}
				job = s.Job
				check(name, list(job, option))
			})
			cost("qalter of "+name, func() {
				table := Qalter(origin)
				line := append(line, option, "k0=last", "1")
				s := table.New(line)
				if err := table.Parse(s, line); err != nil {
					t.Fatal(err)
				}
				a, err := s.Alter()
				if err != nil {
					t.Fatal(err)
				}
				check("qalter of "+name, list(a.Job, option))
			})
		}
	}
	var changes []jsv.Correction
	for _, w := range append(words, "k0=last") {
		name, value, _ := strings.Cut(w, "=")
		changes = append(changes, jsv.Correction{Param: jsv.Param{Name: name, Value: value}, Env: true})
	}
	job.Spec.Env = nil
	cost("verifier", func() {
		got, err := Corrected(job, changes, Client{})
		if err != nil {
			t.Fatal(err)
		}
		check("verifier", got.Spec.Env)
	})
}

// TestContextInOrder: for qsub -ac, -dc and -sc work on one list, in order.
func TestContextInOrder(t *testing.T) {
	origin := Here(nil)
	origin.Dir, origin.Environ = t.TempDir(), nil
	for line, want := range map[string]string{
		"-ac a=1,b=2 -ac a=3":            "a=3,b=2",
		"-ac a=1,b=2 -dc a":              "b=2",
		"-ac a=1,b=2 -dc a -ac a=4":      "b=2,a=4",
		"-ac a=1,b=2 -sc c=5 -ac d=6":    "c=5,d=6",
		"-sc c=5 -dc c":                  "",
		"-ac a=1 -clear -ac b=1 -dc a":   "b=1",
		"-ac a=1 -v x=1 -dc x,y -v x=22": "a=1",
	} {
		s, err := Qsub(origin).New(append(strings.Fields(line), "-b", "y", "true")).Complete()
		if err != nil {
			t.Fatal(line, err)
		}
		if got := s.Job.Spec.Context.Text(); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
