package ticket_test

import (
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/ticket"
)

func BenchmarkRun(b *testing.B) {
	algorithmtest.BenchmarkRun(b, ticket.Entry, *grid.DefaultSchedConf())
}

func BenchmarkSwap(b *testing.B) {
	algorithmtest.BenchmarkSwap(b, ticket.Entry, *grid.DefaultSchedConf())
}
