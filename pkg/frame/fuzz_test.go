package frame

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"
)

// FuzzDecode: whatever a message of the stream holds, as it is or with a checksum that is right, reading it ends
// without a panic, and a frame that is read is written as it was. A reader passes on no more than it gets.
func FuzzDecode(f *testing.F) {
	for _, flags := range []uint16{0, More, Rest, TakeOver | Jump} {
		f.Add(Append(nil, &Frame{Flags: flags, Count: 2, Epoch: NewEpoch(3, 4), First: 5, Last: 6, Prev: 7, Base: 8,
			Before: Hash{9}, Payload: []byte("two lists")}), uint64(8))
	}
	f.Fuzz(func(t *testing.T, message []byte, stream uint64) {
		sealed := slices.Clone(message)
		if end := len(sealed) - sha256.Size; end >= 0 {
			sum := sha256.Sum256(sealed[:end])
			copy(sealed[end:], sum[:])
		}
		for _, data := range [][]byte{message, sealed} {
			got, err := Decode(data)
			if err == nil {
				again := got
				if b := Append(nil, &again); !bytes.Equal(b, data) {
					t.Errorf("%x is written as %x", data, b)
				}
			}
			passed := 0
			r := NewFileReader(func(Frame) error { passed++; return nil })
			for n := range 3 {
				r.Take(stream+uint64(n), data)
			}
			if passed > 0 && err != nil || passed > 3 {
				t.Errorf("%d frames were passed on of what is no frame: %v", passed, err)
			}
		}
	})
}
