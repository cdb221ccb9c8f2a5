package algorithmtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Cases works through the worked cases of an algorithm, a subtest for each file that
// names it: all below the folder $SCHED_CASES, a path relative to the root of this
// module, or below its own copy, testdata/cases beside the algorithms. C is the content
// of a case; kinds contains a function for each kind of case. A folder without any case
// is an error; one of other algorithms only is not.
func Cases[C any](t *testing.T, algorithm string, kinds map[string]func(*testing.T, *C)) {
	folder := os.Getenv("SCHED_CASES")
	if folder == "" {
		folder = filepath.Join("..", "testdata", "cases")
	} else if !filepath.IsAbs(folder) {
		folder = filepath.Join("..", "..", "..", folder)
	}
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		t.Fatal(err)
	}
	found, worked := 0, 0
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
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
		if found++; head.Algorithm != algorithm {
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
	if err != nil || found == 0 {
		t.Fatalf("no cases below %s: %v", folder, err)
	}
	t.Logf("%d cases of %s below %s", worked, algorithm, folder)
}
