package scoot_test

import (
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/scoot"
)

func BenchmarkRun(b *testing.B) { algorithmtest.BenchmarkRun(b, scoot.Entry, classes) }

func BenchmarkSwap(b *testing.B) { algorithmtest.BenchmarkSwap(b, scoot.Entry, classes) }

// classes are ten, one of each project.
var classes = grid.SchedConf{Algorithm: scoot.Name, ScheddJobInfo: "true",
	Sections: []grid.Section{{Algorithm: scoot.Name, Params: []grid.Param{
		{Name: "class_load_percents", Text: "p0=28,p1=8,p2=8,p3=8,p4=8,p5=8,p6=8,p7=8,p8=8,p9=8"},
		{Name: "requestor_map", Text: "none"},
	}}}}
