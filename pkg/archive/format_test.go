package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/testkit"
)

// sumOf is the checksum of the parts one after the other.
func sumOf(parts ...[]byte) string {
	sum := sha256.Sum256(bytes.Join(parts, nil))
	return string(sum[:])
}

// TestSnapshotFormat compares the manual's description of a snapshot with one that is written.
func TestSnapshotFormat(t *testing.T) {
	at := frame.Point{Epoch: 1, Seq: 2, Stream: 3, Hash: frame.Hash{4}}
	var out bytes.Buffer
	if err := writeSnapshot(&out, at, slices.Values([][]byte{[]byte("lists")})); err != nil {
		t.Fatal(err)
	}
	b := out.Bytes()
	testkit.ReadPage(t, "../../tools/manual/formats.md").Layout("Snapshot", binary.BigEndian, b, testkit.RecordFields{
		"point": string(frame.AppendPoint(nil, at)), "chunks": "\x00\x00\x00\x05lists", "end": 0xFFFFFFFF,
		"sum": sumOf(b[:len(b)-sha256.Size]),
	})
}

// TestArchiveFormat compares the manual's description of archives with one that has a block of each part.
func TestArchiveFormat(t *testing.T) {
	page := testkit.ReadPage(t, "../../tools/manual/formats.md")
	f := frame.Frame{Epoch: 1, First: 1, Last: 2, Count: 2, Payload: []byte("two lists")}
	frame.Append(nil, &f)
	var out bytes.Buffer
	w, err := NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	w.Info([]byte("{}"))
	w.State(frame.Point{Epoch: 1, Seq: 3, Stream: 4}, []byte("a state"))
	w.Frame(4, f.Raw)
	w.Run(2, []byte("a run"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	archive := out.Bytes()
	page.Layout("Archive", binary.BigEndian, archive,
		testkit.RecordFields{"magic": "GEX", "version": 1, "blocks": string(archive[4:])})

	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	rest, sums := archive[4:], []byte(nil)
	check := func(part Part, first, last, epoch int, want string) {
		t.Helper()
		packed := int(binary.BigEndian.Uint32(rest[29:]))
		end := 33 + packed + sha256.Size
		block := rest[:end]
		sum := sumOf(block[:33+packed])
		page.Layout("Block", binary.BigEndian, block, testkit.RecordFields{
			"part": string(rune(part)), "first": first, "last": last, "epoch": epoch, "raw": len(want), "packed": packed,
			"contents": string(block[33 : 33+packed]), "sum": sum,
		})
		if raw, err := z.DecodeAll(block[33:33+packed], nil); err != nil || string(raw) != want {
			t.Errorf("part %c contains %q, want %q (%v)", part, raw, want, err)
		}
		rest, sums = rest[end:], append(sums, sum...)
	}
	entry := func(number uint64, data []byte) string {
		b := binary.BigEndian.AppendUint64(nil, number)
		return string(append(binary.BigEndian.AppendUint32(b, uint32(len(data))), data...))
	}
	check(PartInfo, 0, 0, 0, "{}")
	check(PartState, 3, 3, 1, string(frame.AppendPoint(nil, frame.Point{Epoch: 1, Seq: 3, Stream: 4}))+"a state")
	check(PartFrames, 1, 2, 1, entry(4, f.Raw))
	check(PartRuns, 2, 2, 0, entry(2, []byte("a run")))
	check(PartEnd, 0, 0, 0, sumOf(sums))
	if len(rest) > 0 {
		t.Errorf("%d bytes after the last block", len(rest))
	}

	var parts []string
	for _, row := range page.Table("Block", "part")[1:] {
		parts = append(parts, row[0])
	}
	if got := strings.Join(parts, ""); got != string(
		[]byte{byte(PartInfo), byte(PartState), byte(PartFrames), byte(PartRuns), byte(PartEnd)}) {
		t.Errorf("the manual has the parts %s", got)
	}
}
