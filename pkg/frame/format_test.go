package frame

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/quill-grid/quill/pkg/testkit"
)

// TestFormat compares the manual's description of frames and points with what is written.
func TestFormat(t *testing.T) {
	page := testkit.ReadPage(t, "../../tools/manual/formats.md")
	f := Frame{Flags: More | Jump, Count: 2, Epoch: NewEpoch(3, 4), First: 5, Last: 6, Prev: 7, Base: 8, Before: Hash{9},
		Payload: []byte("two lists")}
	raw := Append(nil, &f)
	sum := sha256.Sum256(raw[:len(raw)-sha256.Size])
	page.Layout("Frame", binary.BigEndian, raw, testkit.RecordFields{
		"magic": "GEF", "version": 1, "flags": 9, "count": 2, "epoch": 1<<32 | 4, "first": 5, "last": 6, "prev": 7, "base": 8,
		"before": string(f.Before[:]), "payload": "two lists", "sum": string(sum[:]),
	})
	var flags string
	for _, row := range page.Table("Frame", "bit")[1:] {
		flags += row[0] + " " + row[1] + "\n"
	}
	if want := fmt.Sprintf("%d More\n%d Rest\n%d TakeOver\n%d Jump\n", More, Rest, TakeOver, Jump); flags != want {
		t.Errorf("flags\n%swant\n%s", flags, want)
	}

	p := Point{Epoch: NewEpoch(0, 2), Seq: 3, Stream: 4, Hash: Hash{5}}
	page.Layout("Point", binary.BigEndian, AppendPoint(nil, p), testkit.RecordFields{
		"magic": "GES", "version": 1, "epoch": 1<<32 | 2, "seq": 3, "stream": 4, "hash": string(p.Hash[:]),
	})
}
