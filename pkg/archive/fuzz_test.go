package archive

import (
	"bytes"
	"os"
	"testing"
)

// FuzzOpen: whatever a file holds, opening it and reading all of its blocks ends without a panic. What is read of a
// block is as long as it says.
func FuzzOpen(f *testing.F) {
	golden, err := os.ReadFile("testdata/archive.1")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add(golden[:len(golden)*2/3])
	f.Fuzz(func(t *testing.T, file []byte) {
		a, err := Open(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		for i, b := range a.Blocks {
			raw, err := a.Read(b)
			if err == nil && len(raw) != int(b.Raw) {
				t.Errorf("block %d has %d bytes, not %d", i, len(raw), b.Raw)
			}
			a.State(b)
			a.Each(b, func(uint64, []byte) error { return nil })
			a.EachState(i, func([]byte) error { return nil })
		}
	})
}
