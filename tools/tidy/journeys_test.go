package tidy

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestJourneys checks that the functions that the architecture page names are where it says.
func TestJourneys(t *testing.T) {
	page, err := os.ReadFile("../manual/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	steps := regexp.MustCompile("`([\\w/.-]+\\.go): (\\w+)`").FindAllStringSubmatch(string(page), -1)
	if len(steps) < 20 {
		t.Errorf("%d functions are named: does the test still see them?", len(steps))
	}
	for _, step := range steps {
		text, err := os.ReadFile(filepath.Join("../..", step[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		if !regexp.MustCompile(`(?m)^func (\(.*?\) )?` + step[2] + `[(\[]`).Match(text) {
			t.Errorf("%s has no function %s", step[1], step[2])
		}
	}
}
