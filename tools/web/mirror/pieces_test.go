package mirror

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPieces: pieces in any order and number are one gzip member with the right sum.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.Map(rapid.SliceOfN(rapid.StringMatching(`"seq":[0-9]{1,9},`), 0, 200),
			func(all []string) string { return strings.Join(all, "") }), 0, 8).Draw(t, "texts")
		texts = append(texts, strings.Repeat("more than a block. ", rapid.IntRange(0, 5000).Draw(t, "size")))
		stream := bytes.Clone(GzipHead)
		var sum Checksum
		want := ""
		for _, text := range texts {
			p := Compress([]byte(text))
			sum.Add(p)
			stream, want = append(stream, p.Deflated...), want+text
		}
		in, err := gzip.NewReader(bytes.NewReader(sum.AppendGzipEnd(stream)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(in)
		if err != nil || string(got) != want {
			t.Fatalf("%d bytes, %v, expected %d", len(got), err, len(want))
		}
	})
}
