package submit

import (
	"slices"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
)

// TestVariableNames: -V leaves out the variables that -v refuses, a verifier may not set them.
func TestVariableNames(t *testing.T) {
	bad := []string{"X\nPARAM l_hard h_rt=60", "a.b", "1a", "a b", "$(id)", "ProgramFiles(x86)"}
	origin := Here(nil)
	origin.Dir, origin.Environ = t.TempDir(), []string{"GOOD=1", "TEXT=of\ntwo lines"}
	for _, name := range bad {
		origin.Environ = append(origin.Environ, name+"=1")
	}
	s, err := Qsub(origin).New([]string{"-V", "-b", "y", "true"}).Complete()
	if err != nil {
		t.Fatal(err)
	}
	env := slices.DeleteFunc(slices.Clone(s.Job.Spec.Env),
		func(v grid.Value) bool { return strings.HasPrefix(v.Name, "SGE_O_") })
	if want := (grid.Values{{Name: "GOOD", Text: "1"}, {Name: "TEXT", Text: "of\ntwo lines"}}); !slices.Equal(env, want) {
		t.Errorf("-V takes %q, want %q", env, want)
	}
	for _, name := range bad {
		if _, err := Qsub(origin).New([]string{"-v", name + "=1", "-b", "y", "true"}).Complete(); err == nil ||
			!strings.Contains(err.Error(), "is not the name of an environment variable") {
			t.Errorf("-v %q: %v", name, err)
		}
		if _, err := Corrected(s.Job, []jsv.Correction{{Param: jsv.Param{Name: name, Value: "1"}, Env: true}},
			Client{}); err == nil {
			t.Errorf("a verifier may set %q", name)
		}
	}
}
