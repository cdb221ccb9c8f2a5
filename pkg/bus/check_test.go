package bus

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/quill-grid/quill/pkg/archive/archivetest"
	"github.com/quill-grid/quill/pkg/frame"
)

// TestCheckLog: what the check finds in a log of several blocks, and that a server agrees.
func TestCheckLog(t *testing.T) {
	const frames, end = 200, 201 // with the take-over
	made := t.TempDir()
	mark := filepath.Join(made, "mark")
	s, err := Start(ServerOptions{Dir: made})
	if err != nil {
		t.Fatal(err)
	}
	l, err := Open(inside(t, s, qmaster), LogOptions{HighWaterMark: mark})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Read(frame.Point{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := l.TakeOver(0); err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1); seq <= frames; seq++ {
		f := frame.Frame{First: seq, Last: seq, Count: 1, Payload: list(seq, 100_000)}
		if err := l.Append(&f); err != nil {
			t.Fatal(err)
		}
	}
	s.Stop()

	half := func(b []byte) []byte { b[len(b)/2] ^= 4; return b }
	for name, c := range map[string]struct {
		spoil   func(t *testing.T, dir string)
		crashed bool
		from    uint64
		whole   bool
		last    uint64 // that a server has; 0: it is not compared
	}{
		"whole":           {whole: true, last: end},
		"whole, no index": {whole: true, crashed: true, last: end},
		"bad index":       {spoil: spoilFile(IndexFile, half), whole: true, last: end},
		"bad definition":  {spoil: spoilFile("../"+metaFile, half), whole: true, last: end},
		"bad consumer":    {spoil: makeFile("../obs/c/meta.inf", "x"), whole: true, last: end},
		"empty block":     {spoil: makeFile("4.blk", ""), crashed: true, whole: true, last: end},
		"half a record": {whole: true, last: end,
			spoil: spoilFile("3.blk", func(b []byte) []byte { return append(b, b[:99]...) })},
		"zeros at the end": {whole: true, last: end,
			spoil: spoilFile("3.blk", func(b []byte) []byte { return append(b, make([]byte, 5000)...) })},
		"end is gone":                {spoil: spoilFile("3.blk", func(b []byte) []byte { return b[:len(b)-1] })},
		"last block is gone":         {spoil: removeFile("3.blk")},
		"a block is gone":            {spoil: removeFile("2.blk")},
		"all blocks are gone":        {spoil: func(t *testing.T, dir string) { os.RemoveAll(dir) }},
		"flip":                       {spoil: spoilFile("1.blk", half)},
		"flip, not read":             {spoil: spoilFile("1.blk", half), from: 180, whole: true, last: end},
		"flip, read by the server":   {spoil: spoilFile("1.blk", half), from: 180, crashed: true},
		"flip in the block, read":    {spoil: spoilFile("2.blk", half), from: 110},
		"flip in the last block":     {spoil: spoilFile("3.blk", half), from: end},
		"flip in the last block too": {spoil: spoilFile("3.blk", half), crashed: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "log")
			if err := copyTree(dir, made); err != nil {
				t.Fatal(err)
			}
			if c.spoil != nil {
				c.spoil(t, messagesDir(dir))
			}
			if c.crashed {
				removeFile(IndexFile)(t, messagesDir(dir))
			}
			got, err := CheckLog(dir, filepath.Join(dir, "mark"), c.from)
			if err != nil || got.Whole != c.whole {
				t.Errorf("%+v %v", got, err)
			}
			if c.last == 0 {
				return
			}
			l, err := Open(inside(t, startServer(t, ServerOptions{Dir: dir}), qmaster), LogOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if info := l.stream.CachedInfo(); info.State.LastSeq != c.last {
				t.Errorf("the server has messages up to %d", info.State.LastSeq)
			}
		})
	}
	if _, err := CheckLog(filepath.Join(made, "none"), filepath.Join(made, "none", "mark"), 0); err != nil {
		t.Error("a new cell:", err)
	}
	s = startServer(t, ServerOptions{Dir: made})
	if _, err := CheckLog(made, mark, 0); err == nil {
		t.Error("a log was checked while its server runs")
	}
	// What was retired is no damage.
	l, err = Open(inside(t, s, qmaster), LogOptions{HighWaterMark: mark})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Purge(frame.Point{Stream: 120}); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	for range 2 {
		if got, err := CheckLog(made, mark, 0); err != nil || !got.Whole {
			t.Errorf("retired: %+v %v", got, err)
		}
		os.Remove(filepath.Join(messagesDir(made), IndexFile))
	}
}

func spoilFile(name string, change func([]byte) []byte) func(*testing.T, string) {
	return func(t *testing.T, dir string) { archivetest.Damage(t, filepath.Join(dir, name), change) }
}

func removeFile(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func makeFile(name, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
