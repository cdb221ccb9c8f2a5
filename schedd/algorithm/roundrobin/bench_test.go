package roundrobin_test

import (
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/roundrobin"
)

func BenchmarkRun(b *testing.B) {
	algorithmtest.BenchmarkRun(b, roundrobin.Entry, grid.SchedConf{Algorithm: roundrobin.Name})
}

func BenchmarkSwap(b *testing.B) {
	algorithmtest.BenchmarkSwap(b, roundrobin.Entry, grid.SchedConf{Algorithm: roundrobin.Name})
}
