package bus

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCutWhileMade: after a power cut the file that says what a stream is may be
// empty. A log in which nothing was is made anew; recorded orders are given up;
// the log that has something stays.
func TestCutWhileMade(t *testing.T) {
	dir := t.TempDir()
	sum := func(stream string) string { return filepath.Join(dir, streamDirs, stream, metaSum) }
	empty := func(stream string) {
		t.Helper()
		if err := os.Truncate(sum(stream), 0); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Start(ServerOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(inside(t, s, qmaster), LogOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	empty(streamName)

	s, err = Start(ServerOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	c := inside(t, s, qmaster)
	l := own(t, c)
	appendLists(t, l, 1, 10)
	if err := NewDebug(c, 1).Keep(Retention{Age: time.Hour, Bytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	empty(debugStream)

	l = own(t, inside(t, startServer(t, ServerOptions{Dir: dir}), qmaster))
	if at := l.Tail(); at.Seq != 10 {
		t.Errorf("the log ends at list %d", at.Seq)
	}
}
