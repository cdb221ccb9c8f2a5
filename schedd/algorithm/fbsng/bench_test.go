package fbsng_test

import (
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/fbsng"
)

func BenchmarkRun(b *testing.B) {
	algorithmtest.BenchmarkRun(b, fbsng.Entry, grid.SchedConf{Algorithm: fbsng.Name})
}

func BenchmarkSwap(b *testing.B) {
	algorithmtest.BenchmarkSwap(b, fbsng.Entry, grid.SchedConf{Algorithm: fbsng.Name})
}
