package algorithmtest

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Cases works through the worked cases of an algorithm, a subtest for each
// file that names it: all below the folder $SCHED_CASES, or below this
// project's own copy, testdata/cases beside the algorithms. C is what a case
// says; kinds work one through.
func Cases[C any](t *testing.T, algorithm string, kinds map[string]func(*testing.T, *C)) {
	folder := cmp.Or(os.Getenv("SCHED_CASES"), filepath.Join("..", "testdata", "cases"))
	worked := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var head struct{ Algorithm, Kind string }
		if err := yaml.Unmarshal(text, &head); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if head.Algorithm != algorithm {
			return nil
		}
		worked++
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			var c C
			if err := yaml.Unmarshal(text, &c); err != nil {
				t.Fatal(err)
			}
			work := kinds[head.Kind]
			if work == nil {
				t.Fatalf("unknown kind %q", head.Kind)
			}
			work(t, &c)
		})
		return nil
	})
	if err != nil || worked == 0 {
		t.Fatalf("%d cases of %s below %s: %v", worked, algorithm, folder, err)
	}
}
