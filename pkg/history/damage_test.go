package history_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/archive/archivetest"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
)

// TestUpToDamage: the list up to which Check says that a damaged log is good can be had: by its number, by its time,
// and as an export that ends there.
func TestUpToDamage(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "cell")
	at := map[uint64]grid.Time{}
	cell(t, whole, 3000, 200, newStory(4), func(l events.List) { at[l.Seq] = l.At })
	for _, dir := range []string{"log", "snapshots"} {
		must(t, os.RemoveAll(filepath.Join(whole, dir)))
	}
	flip := func(i func(n int) int) func([]byte) []byte {
		return func(b []byte) []byte { b[i(len(b))] ^= 4; return b }
	}
	half := func(n int) int { return n / 2 }
	for name, c := range map[string]struct {
		last  bool // of the last segment, else of one in the middle
		spoil func([]byte) []byte
	}{
		"flip in the middle":     {spoil: flip(half)},
		"flip at the beginning":  {spoil: flip(func(int) int { return 0 })},
		"flip at the end":        {spoil: flip(func(n int) int { return n - 1 })},
		"short by a byte":        {spoil: func(b []byte) []byte { return b[:len(b)-1] }},
		"short by half":          {spoil: func(b []byte) []byte { return b[:len(b)/2] }},
		"removed":                {},
		"flip in the last":       {last: true, spoil: flip(half)},
		"last begins wrong":      {last: true, spoil: flip(func(int) int { return 0 })},
		"last short by a byte":   {last: true, spoil: func(b []byte) []byte { return b[:len(b)-1] }},
		"last without its frame": {last: true, spoil: func(b []byte) []byte { return b[:len(b)/2] }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "copy")
			must(t, os.CopyFS(dir, os.DirFS(whole)))
			files, err := filepath.Glob(filepath.Join(dir, "segments", "*.seg"))
			must(t, err)
			file := files[len(files)/2]
			if c.last {
				file = files[len(files)-1]
			}
			if c.spoil == nil {
				must(t, os.Remove(file))
			} else {
				archivetest.Damage(t, file, c.spoil)
			}
			l := open(t, history.Source{Dir: dir})
			check := l.Check()
			good := check.Last.Seq
			if check.Damage == nil || good < 200 {
				t.Fatalf("good up to list %d: %v", good, check.Damage)
			}
			for _, seq := range []uint64{good, good - 1, good / 2} {
				must(t, l.Reach(gdi.Place{Seq: seq}))
				if got, err := l.At(gdi.Place{Seq: seq}); got != seq || err != nil {
					t.Errorf("list %d: %d, %v", seq, got, err)
				}
				if got, err := l.At(gdi.Place{At: at[seq] - 1}); got != seq-1 || err != nil {
					t.Errorf("the time before list %d: %d, %v", seq, got, err)
				}
				var out bytes.Buffer
				must(t, l.Export(&out, history.Export{Kept: true, To: seq}))
				copied := filepath.Join(t.TempDir(), fmt.Sprint(seq))
				must(t, os.WriteFile(copied, out.Bytes(), 0o600))
				if again := open(t, history.Source{File: copied}).Check(); again.Damage != nil || again.Last.Seq != seq {
					t.Errorf("an export up to list %d ends at list %d: %v", seq, again.Last.Seq, again.Damage)
				}
			}
		})
	}
}

// TestDamagedState: an export begins with an older state where the newest cannot be read, and says so.
func TestDamagedState(t *testing.T) {
	for name, at := range map[string]func(int) int{
		"the first byte": func(int) int { return 0 }, "in the middle": func(n int) int { return n / 2 },
		"the last byte": func(n int) int { return n - 1 },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cell")
			story := newStory(6)
			cell(t, dir, 1000, 200, story, func(events.List) {})
			files, err := filepath.Glob(filepath.Join(dir, "snapshots", "*"))
			must(t, err)
			newest := files[len(files)-1]
			archivetest.Damage(t, newest, func(b []byte) []byte { b[at(len(b))] ^= 4; return b })
			var out bytes.Buffer
			must(t, open(t, history.Source{Dir: dir}).Export(&out, history.Export{Kept: true, From: 1000}))
			file := filepath.Join(t.TempDir(), "export")
			must(t, os.WriteFile(file, out.Bytes(), 0o600))
			l := open(t, history.Source{File: file})
			if said := l.About().PassedOver; !strings.Contains(said, filepath.Base(newest)+" cannot be used") {
				t.Errorf("it says %q", said)
			}
			full, err := l.Full(1000)
			must(t, err)
			same(t, full, story.state)
		})
	}
}
