package bus

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden archive anew")

// TestGoldenArchive: files of version 1 stay readable, whatever programs come.
func TestGoldenArchive(t *testing.T) {
	const path = "testdata/archive.1"
	f := Frame{Epoch: NewEpoch(0, 7), First: 1, Last: 2, Count: 2, Payload: []byte("two lists")}
	AppendFrame(nil, &f)
	if *update {
		var out bytes.Buffer
		w, err := NewArchiveWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		w.Info([]byte("{}"))
		w.State(Point{Epoch: f.Epoch, Seq: 0, Stream: 3}, []byte("a state"))
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
	a, err := OpenArchive(in, info.Size())
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
			var p Point
			p, err = a.EachState(i, func(lists []byte) error { return each(0, lists) })
			what += fmt.Sprintf(" at %s", p)
		case PartFrames:
			err = a.Each(b, func(n uint64, data []byte) error {
				f, err := DecodeFrame(data)
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

// TestChainOfFiles: a stream that was begun anew behind the last list of what
// files hold goes on without damage; one that skips lists does not.
func TestChainOfFiles(t *testing.T) {
	old := Frame{Epoch: NewEpoch(0, 1), First: 1, Last: 3, Count: 3, Prev: 11}
	for lost, last := range []uint64{3, 4} {
		c := NewChain(func(Frame) error { return nil })
		if err := c.Take(12, AppendFrame(nil, &old)); err != nil {
			t.Fatal(err)
		}
		over := Frame{Flags: TakeOver | Jump, Epoch: NewEpoch(old.Epoch, 1), First: last + 1, Last: last}
		if err := c.Take(1, AppendFrame(nil, &over)); (err != nil) != (lost > 0) {
			t.Errorf("%d lists lost: %v", lost, err)
		}
		if want := last; lost == 0 && (c.End().Seq != want || c.End().Stream != 1) {
			t.Errorf("end is %v", c.End())
		}
	}
}
