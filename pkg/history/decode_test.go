package history_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/history"
)

// However reading, decoding or taking ends, what came before is taken in order,
// and nothing is read any more when Decode returns.
func TestDecodeEnds(t *testing.T) {
	const frames = 1000
	unread, unwanted := errors.New("cannot be read"), errors.New("not wanted")
	for _, c := range []struct {
		name           string
		read, bad, end uint64 // lists that cannot be read, decoded, taken; 0: none
		taken          uint64
		want           string
	}{
		{name: "all", taken: 2 * frames, want: "<nil>"},
		{name: "reading", read: 901, taken: 900, want: "cannot be read"},
		{name: "decoding", bad: 901, taken: 900, want: "event list: 0xc1 is no array"},
		{name: "taking", end: 901, taken: 900, want: "not wanted"},
		{name: "taking, then decoding", bad: 903, end: 901, taken: 900, want: "not wanted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var dec codec.Decoder
			reading := false
			read := func(give func(frame.Frame) error) error {
				reading = true
				defer func() { reading = false }()
				for seq := uint64(1); seq <= 2*frames; seq += 2 {
					f := frame.Frame{First: seq, Last: seq + 1}
					switch seq {
					case c.read:
						return unread
					case c.bad:
						f.Payload = []byte{0xc1}
					default:
						f.Payload = codec.AppendList(codec.AppendList(nil, events.List{Seq: seq}), events.List{Seq: seq + 1})
					}
					if err := give(f); err != nil {
						return err
					}
				}
				return nil
			}
			taken := uint64(0)
			err := history.Decode(&dec, read, nil, func(l events.List) error {
				if l.Seq == c.end {
					return unwanted
				}
				if l.Seq != taken+1 {
					t.Errorf("list %d after %d", l.Seq, taken)
				}
				taken = l.Seq
				return nil
			})
			if fmt.Sprint(err) != c.want || taken != c.taken || reading {
				t.Errorf("%d lists were taken, want %d; error %q, want %q; still reading: %t", taken, c.taken,
					fmt.Sprint(err), c.want, reading)
			}
		})
	}
}
