package qmaster

import (
	"context"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/quill-grid/quill/pkg/gdi"
)

// TestFilesOfTheCell: no other user may write what qmaster writes, whatever umask it was
// started with. Everybody may connect to the socket.
func TestFilesOfTheCell(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	cell := newCell(t)
	q := start(t, Options{Cell: cell, SnapshotEvents: 1})
	c := connect(t, cell)
	submitJob(t, c, "j")
	if _,
		err := c.Do(context.Background(), "qdel", &gdi.DeleteJobs{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 1}}}}); err != nil {
		t.Fatal(err)
	}
	look := func() {
		err := filepath.WalkDir(cell.Dir(), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // removed meanwhile
			}
			if info, err := e.Info(); err == nil && info.Mode().Perm()&0o022 != 0 && path != cell.Socket() {
				t.Errorf("%s has mode %s", path, info.Mode())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	look()
	stop(t, q)
	look()
}
