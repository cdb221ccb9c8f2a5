package archive_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/archive/archivetest"
)

// TestSnapshots: what a crash left half written is removed, and a snapshot that cannot be read is passed over.
func TestSnapshots(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "new.tmp123"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := archive.OpenSnapshots(dir)
	if err != nil {
		t.Fatal(err)
	}
	archivetest.Snapshots(t, s)
	// The newest is cut, the one before it has a flipped bit: the third serves.
	archivetest.Damage(t, filepath.Join(dir, "00000000000000000050.snap"), func(b []byte) []byte { return b[:len(b)-1] })
	archivetest.Damage(t, filepath.Join(dir, "00000000000000000040.snap"),
		func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	var rejected []string
	at, err := s.Newest(func(name string, why error) { rejected = append(rejected, fmt.Sprintf("%s: %v", name, why)) },
		func([]byte) error { return nil })
	if err != nil || at.Seq != 30 || len(rejected) != 2 {
		t.Errorf("%v %v", at, err)
	}
	t.Log(strings.Join(rejected, "\n"))
	if files, _ := os.ReadDir(dir); len(files) != 3 {
		t.Errorf("left over: %v", files)
	}
}
