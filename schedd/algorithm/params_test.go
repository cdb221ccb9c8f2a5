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

// TestParams reads lines "name value" and tells the whole Config.
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
		told := algorithm.Describe(&c)
		for _, p := range told {
			if p.Help != "" {
				fmt.Fprintf(&b, "# %s\n", p.Help)
			}
			fmt.Fprintf(&b, "%s %s\n", p.Name, p.Text)
		}
		var again config
		if err := algorithm.Decode(told, &again); err != nil {
			t.Errorf("what was told is not understood: %v", err)
		} else if fmt.Sprint(algorithm.Describe(again)) != fmt.Sprint(told) {
			t.Errorf("told again: %v, want %v", algorithm.Describe(again), told)
		}
		return b.String()
	})
}
