package bus

import (
	"path/filepath"
	"testing"

	"github.com/quill-grid/quill/pkg/frame"
)

// TestHighWaterMark: the mark of a log that is not synced says nothing after the machine
// has gone down, every other one is valid.
func TestHighWaterMark(t *testing.T) {
	p := frame.Point{Stream: 7, Epoch: 1<<32 | 5, Seq: 9, Hash: frame.Hash{1, 2}}
	for _, c := range []struct {
		name                     string
		written, read, otherBoot bool // unsynced when written, when read
		want                     frame.Point
	}{
		{"synced", false, false, false, p},
		{"synced, another boot", false, false, true, p},
		{"synced, read by one that is not", false, true, true, p},
		{"unsynced", true, true, false, p},
		{"unsynced, read by one that is synced", true, false, false, p},
		{"unsynced, another boot", true, true, true, frame.Point{}},
		{"unsynced, another boot, read by one that is synced", true, false, true, frame.Point{}},
	} {
		path := filepath.Join(t.TempDir(), "mark")
		m, err := openHighWaterMark(path, c.written)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.writePoint(p); err != nil {
			t.Fatal(err)
		}
		again, err := openHighWaterMark(path, c.read)
		if err != nil {
			t.Fatal(err)
		}
		if c.otherBoot {
			again.boot = []byte("another")
		}
		if got := again.readPoint(); got != c.want {
			t.Errorf("%s: read %+v", c.name, got)
		}
		m.file.Close()
		again.file.Close()
	}
}
