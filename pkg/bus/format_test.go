package bus

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/testkit"
)

// TestFormats compares the manual's description of the mark and of key files with what is written and read.
func TestFormats(t *testing.T) {
	page := testkit.ReadPage(t, "../../tools/manual/formats.md")
	path := filepath.Join(t.TempDir(), "mark")
	for _, unsynced := range []bool{false, true} {
		m, err := openHighWaterMark(path, unsynced)
		if err != nil {
			t.Fatal(err)
		}
		defer m.file.Close()
		p := frame.Point{Epoch: 1, Seq: 2, Stream: 3, Hash: frame.Hash{4}}
		if err := m.writePoint(p); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		summed := frame.AppendPoint(nil, p)
		point := string(summed)
		if unsynced {
			summed = append(summed, m.boot...)
		}
		sum := sha256.Sum256(summed)
		page.Layout("Mark", binary.BigEndian, b, testkit.RecordFields{"point": point, "sum": string(sum[:])})
	}

	keys := filepath.Join(t.TempDir(), "registered")
	if err := os.WriteFile(keys, []byte(page.Block("Key files")), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadKeys(keys)
	if err != nil || len(got) != 2 || got[0].Identity != (Identity{Role: Host, Name: "node1"}) ||
		got[1].Identity != (Identity{Role: User, Name: "alice"}) {
		t.Errorf("keys of the manual: %v %v", got, err)
	}
	key, seed, err := NewKey(Identity{Role: User, Name: "alice"})
	if word := strings.Fields(string(seed)); err != nil || len(word[0]) != 58 || word[0][:2] != "SU" ||
		len(key.Public) != 56 || key.Public[0] != 'U' {
		t.Errorf("a pair of keys has %d and %d characters: %v", len(word[0]), len(key.Public), err)
	}
}
