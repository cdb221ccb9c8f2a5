package codec_test

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/madeup"
)

// filled makes an object with a value in every field.
func filled(s grid.Spec) grid.Object {
	o := s.New()
	new(madeup.Filler).Fill(o)
	return o
}
