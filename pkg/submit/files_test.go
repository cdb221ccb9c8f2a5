package submit

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestOptionFileNamesItself: -@ of a file that includes itself is refused, and one
// that includes another is not.
func TestOptionFileNamesItself(t *testing.T) {
	origin := Origin{Dir: t.TempDir(), Getenv: func(string) string { return "" }}
	for name, text := range map[string]string{"loop": "-@ loop\n", "outer": "-@ inner\n", "inner": "-N named\n"} {
		if err := os.WriteFile(filepath.Join(origin.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := Qsub(origin).New(nil)
	if err := Qsub(Origin{}).Parse(s, []string{"-@", "loop"}); err == nil ||
		!strings.Contains(err.Error(), "names itself") {
		t.Errorf("a file that includes itself: %v", err)
	}
	s = Qsub(origin).New(nil)
	if err := Qsub(Origin{}).Parse(s, []string{"-@", "outer"}); err != nil || s.Job.Name != "named" {
		t.Errorf("a file in a file: name %q, %v", s.Job.Name, err)
	}
}

// TestScriptIsDirectory: Grid Engine exits with 4.
func TestScriptIsDirectory(t *testing.T) {
	origin := Origin{Dir: t.TempDir(), Getenv: func(string) string { return "" }}
	s := Qsub(origin).New([]string{origin.Dir})
	s.Command = []string{origin.Dir}
	_, err := s.loadScript()
	var failed *ScriptError
	if !errors.As(err, &failed) || failed.Code != 4 {
		t.Errorf("%v, want exit status 4", err)
	}
}

// TestManyPredecessors: a list of a million jobs is read at once.
func TestManyPredecessors(t *testing.T) {
	var list []byte
	for i := range 1_000_000 {
		list = append(strconv.AppendInt(list, int64(i+1), 10), ',')
	}
	s := Qsub(Origin{}).New(nil)
	if err := Qsub(Origin{}).Parse(s, []string{"-hold_jid", string(list), "-hold_jid", "7,1000001"}); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Job.PredecessorReq); n != 1_000_001 {
		t.Errorf("%d jobs", n)
	}
}
