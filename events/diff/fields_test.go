package diff

import (
	"slices"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
)

// TestSilent: what is left out of a new object says nothing.
func TestSilent(t *testing.T) {
	for _, s := range grid.Kinds {
		o := s.New()
		if short, all := set(fields(o, false, time.UTC)), set(fields(o, true, time.UTC)); !slices.Equal(short, all) {
			t.Errorf("%s: %v, of all fields %v", s.Name, short, all)
		}
	}
}
