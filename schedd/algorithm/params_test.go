package algorithm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm"
)

type config struct {
	Mode    string      `param:"mode" default:"fast" help:"fast or slow"`
	Period  float64     `param:"min_period_s" default:"5" help:"seconds: at most one run in this time"`
	Weights []int       `param:"weights" default:"0,1,2" help:"weight of each level"`
	Shares  grid.Values `param:"shares" default:"land=40,diff=25" help:"percent of each class"`
	Strict  bool        `param:"strict" help:"whether to be strict"`
	Queues  []queue     `param:"queue" help:"one line a queue"`
	Map     []rule      `param:"map" default:"land.* land|diff.* diff" help:"pattern and class"`
}

type queue struct {
	Name string
	Min  int  `param:"QPmin"`
	Max  *int `param:"QPmax" default:"none"`
	Step int  `param:"QPI" default:"1"`
}

type rule struct{ Pattern, Class string }

// TestParams reads lines "name value" and shows the whole Config.
func TestParams(t *testing.T) {
	datadriven.RunTest(t, "testdata/params.txt", func(t *testing.T, d *datadriven.TestData) string {
		var section []grid.Param
		for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
			if name, text, _ := strings.Cut(line, " "); name != "" {
				section = append(section, grid.Param{Name: name, Text: text})
			}
		}
		var c config
		if err := algorithm.Decode(section, &c); err != nil {
			return err.Error() + "\n"
		}
		var b strings.Builder
		described := algorithm.Describe(&c)
		for _, p := range described {
			if p.Help != "" {
				fmt.Fprintf(&b, "# %s\n", p.Help)
			}
			fmt.Fprintf(&b, "%s %s\n", p.Name, p.Text)
		}
		var again config
		if err := algorithm.Decode(described, &again); err != nil {
			t.Errorf("what was told is not understood: %v", err)
		} else if fmt.Sprint(algorithm.Describe(again)) != fmt.Sprint(described) {
			t.Errorf("told again: %v, want %v", algorithm.Describe(again), described)
		}
		return b.String()
	})
}

// TestParamsOfUnknownTypes checks that a Config with a field that no text can be read into is an error, not a value
// that is lost.
func TestParamsOfUnknownTypes(t *testing.T) {
	var unsigned struct {
		Most uint `param:"most" default:"1"`
	}
	var word struct {
		Most int `param:"most" default:"one"`
	}
	for want, config := range map[string]any{
		"most: a parameter can't be of type uint": &unsigned,
		"most: \"one\" is no whole number":        &word,
	} {
		if err := algorithm.Decode(nil, config); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestDescribeLeavesOut checks that fields without a name are no parameters.
func TestDescribeLeavesOut(t *testing.T) {
	config := struct {
		Most   int `param:"most" default:"1"`
		Helper int
	}{3, 4}
	if got := algorithm.Describe(config); len(got) != 1 || got[0].Name != "most" || got[0].Text != "3" {
		t.Errorf("parameters %v", got)
	}
	if err := algorithm.Decode([]grid.Param{{Name: "", Text: "5"}}, &config); err == nil || config.Helper != 4 {
		t.Errorf("a parameter without a name: %v, %+v", err, config)
	}
}
