package history

import (
	"iter"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/state"
)

// Chunks is the whole state in chunks of lists, as snapshots hold it. A chunk is
// valid until the next.
func Chunks(s *state.State) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		w := codec.ListWriter{List: events.List{Seq: s.Seq, At: s.At}, Send: func(chunk []byte) error {
			if !yield(chunk) {
				return errStopped
			}
			return nil
		}}
		s.Full(w.Add)
		w.End()
	}
}
