package schedd_test

import (
	"testing"

	"github.com/quill-grid/quill/schedd"
	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
)

// TestMadeUpEvents sends all algorithms what no qmaster should.
func TestMadeUpEvents(t *testing.T) {
	for _, e := range schedd.Algorithms() {
		t.Run(e.Name, func(t *testing.T) { algorithmtest.MadeUp(t, e) })
	}
}
