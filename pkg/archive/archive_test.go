package archive

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/frame"
)

var update = flag.Bool("update", false, "write the golden archive anew")

// TestGoldenArchive: files of version 1 stay readable, whatever programs come.
func TestGoldenArchive(t *testing.T) {
	const path = "testdata/archive.1"
	f := frame.Frame{Epoch: frame.NewEpoch(0, 7), First: 1, Last: 2, Count: 2, Payload: []byte("two lists")}
	frame.Append(nil, &f)
	if *update {
		var out bytes.Buffer
		w, err := NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		w.Info([]byte("{}"))
		w.State(frame.Point{Epoch: f.Epoch, Seq: 0, Stream: 3}, []byte("a state"))
		w.Frame(4, f.Raw)
		w.Run(2, []byte("a run"))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(in, info.Size())
	if err != nil || a.Short != nil {
		t.Fatal(err, a.Short)
	}
	var got []string
	for i, b := range a.Blocks {
		what := fmt.Sprintf("%c %d-%d epoch %s:", b.Part, b.First, b.Last, b.Epoch)
		each := func(n uint64, data []byte) error {
			what += fmt.Sprintf(" %d %q", n, data)
			return nil
		}
		switch b.Part {
		case PartInfo:
			var text []byte
			if text, err = a.Read(b); err == nil {
				what += fmt.Sprintf(" %q", text)
			}
		case PartState:
			var p frame.Point
			p, err = a.EachState(i, func(lists []byte) error { return each(0, lists) })
			what += fmt.Sprintf(" at %s", p)
		case PartFrames:
			err = a.Each(b, func(n uint64, data []byte) error {
				f, err := frame.Decode(data)
				what += fmt.Sprintf(" %d %q", n, f.Payload)
				return err
			})
		default:
			err = a.Each(b, each)
		}
		if err != nil {
			t.Error(what, err)
		}
		got = append(got, what)
	}
	want := `I 0-0 epoch 0-00000000: "{}"
S 0-0 epoch 1-00000007: 0 "a state" at epoch 1-00000007 list 0 (message 3, 000000000000)
F 1-2 epoch 1-00000007: 4 "two lists"
R 2-2 epoch 0-00000000: 2 "a run"`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("it holds\n%s\nwant\n%s", text, want)
	}
}
