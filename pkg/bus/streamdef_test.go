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
	if err := NewDebug(c, 1).SetRetention(Retention{Age: time.Hour, Bytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	empty(debugStream)

	l = own(t, inside(t, startServer(t, ServerOptions{Dir: dir}), qmaster))
	if at := l.Tail(); at.Seq != 10 {
		t.Errorf("the log ends at list %d", at.Seq)
	}
}

// TestDamagedDefinition: a byte of the files that say what the log's stream is does not cost what is in it.
func TestDamagedDefinition(t *testing.T) {
	for _, name := range []string{metaFile, metaSum} {
		dir := t.TempDir()
		s, err := Start(ServerOptions{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		appendLists(t, own(t, inside(t, s, qmaster)), 1, 10)
		s.Stop()
		path := filepath.Join(dir, streamDirs, streamName, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text[len(text)/2] ^= 1
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			s, err = Start(ServerOptions{Dir: dir})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if at := own(t, inside(t, s, qmaster)).Tail(); at.Seq != 10 {
				t.Errorf("%s: the log ends at list %d", name, at.Seq)
			}
			s.Stop()
		}
	}
}
