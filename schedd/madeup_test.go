package schedd_test

import (
	"testing"

	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
)

// TestMadeUpEvents sends all algorithms what no qmaster should.
func TestMadeUpEvents(t *testing.T) {
	for _, e := range shipped.Algorithms() {
		t.Run(e.Name, func(t *testing.T) { algorithmtest.MadeUp(t, e) })
	}
}
