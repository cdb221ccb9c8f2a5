package bus

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/quill-grid/quill/pkg/archive"
)

// The server syncs the messages of a stream as configured, but the stream's definition,
// two small files beside them, only if all appends are synced. After a power cut one of
// the two may be empty, and then the server gives up the stream and all that is in it. So
// a stream that was made or changed is settled, and one that was not completely made is
// removed before the server sees it.
const (
	streamDirs = "jetstream/$G/streams"
	metaFile   = "meta.inf"
	metaSum    = "meta.sum"
)

// settle returns when it is on disk what a stream is. Only of a server in this
// process: others are their administrators'.
func (c *Conn) settle(stream string) error {
	if c.server == nil {
		return nil
	}
	dir := filepath.Join(c.server.dir, streamDirs, stream)
	return errors.Join(archive.Sync(filepath.Join(dir, metaFile)), archive.Sync(filepath.Join(dir, metaSum)), syncUp(dir, c.server.dir))
}

// syncUp syncs a directory and those above it, as far as top.
func syncUp(dir, top string) error {
	err := archive.Sync(dir)
	if dir == top || err != nil {
		return err
	}
	return syncUp(filepath.Dir(dir), top)
}

// removeUnborn removes the streams that a crash of the machine kept from being
// made: one of their two files is empty, and nothing was ever appended.
func removeUnborn(dir string) error {
	streams, err := filepath.Glob(filepath.Join(dir, streamDirs, "*"))
	for _, s := range streams {
		if filled(filepath.Join(s, metaFile)) && filled(filepath.Join(s, metaSum)) {
			continue
		}
		if blocks, _ := filepath.Glob(filepath.Join(s, "msgs", "*.blk")); !anyFilled(blocks) {
			err = errors.Join(err, os.RemoveAll(s))
		}
	}
	return err
}

func anyFilled(files []string) bool {
	for _, f := range files {
		if filled(f) {
			return true
		}
	}
	return false
}

func filled(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Size() > 0
}

// removeDebug removes the debug stream if it is what the server cannot recover:
// it is not worth a cell that does not start.
func removeDebug(dir string, broken error) (removed bool, err error) {
	path := filepath.Join(dir, streamDirs, debugStream)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || !strings.Contains(broken.Error(), debugStream) {
		return false, nil
	}
	return true, os.RemoveAll(path)
}
