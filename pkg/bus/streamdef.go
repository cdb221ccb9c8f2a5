package bus

import (
	"bytes"
	"errors"
	"fmt"
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

// syncDefinition returns when it is on disk what a stream is. Only of a server in this
// process: others are their administrators'.
func (c *Conn) syncDefinition(stream string) error {
	if c.server == nil {
		return nil
	}
	dir := filepath.Join(c.server.dir, streamDirs, stream)
	return errors.Join(archive.Sync(filepath.Join(dir, metaFile)), archive.Sync(filepath.Join(dir, metaSum)),
		syncParents(dir, c.server.dir))
}

// syncParents syncs a directory and those above it, as far as top.
func syncParents(dir, top string) error {
	err := archive.Sync(dir)
	if dir == top || err != nil {
		return err
	}
	return syncParents(filepath.Dir(dir), top)
}

// removeUnfinishedStreams removes the streams that a crash of the machine kept from being
// made: one of their two files is empty, and nothing was ever appended.
func removeUnfinishedStreams(dir string) error {
	streams, err := filepath.Glob(filepath.Join(dir, streamDirs, "*"))
	for _, s := range streams {
		if isNonEmpty(filepath.Join(s, metaFile)) && isNonEmpty(filepath.Join(s, metaSum)) {
			continue
		}
		if blocks, _ := filepath.Glob(filepath.Join(s, "msgs", "*.blk")); !anyNonEmpty(blocks) {
			err = errors.Join(err, os.RemoveAll(s))
		}
	}
	return err
}

func anyNonEmpty(files []string) bool {
	for _, f := range files {
		if isNonEmpty(f) {
			return true
		}
	}
	return false
}

func isNonEmpty(file string) bool {
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

// remakeDefinition makes the definition of the log's stream anew if that is what the server cannot recover. All streams
// of a log in a directory are defined alike, so another one has the same: its two files are copied. What is in the
// stream is not touched.
func remakeDefinition(dir string, broken error) (made bool, err error) {
	damaged := filepath.Join(dir, streamDirs, streamName)
	if _, err := os.Stat(damaged); errors.Is(err, fs.ErrNotExist) || !strings.Contains(broken.Error(), streamName) {
		return false, nil
	}
	other, err := os.MkdirTemp(dir, "definition"+temporary)
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(other)
	if err := MakeLog(other, 1); err != nil {
		return false, fmt.Errorf("definition of stream %s: %w", streamName, err)
	}
	changed := false
	for _, name := range []string{metaFile, metaSum} {
		good, err := os.ReadFile(filepath.Join(other, streamDirs, streamName, name))
		if err != nil {
			return false, err
		}
		was, _ := os.ReadFile(filepath.Join(damaged, name))
		changed = changed || !bytes.Equal(was, good)
		if err := archive.Replace(filepath.Join(damaged, name), good, 0o600); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// temporary is in the name of a directory that is removed.
const temporary = ".tmp"

// MakeLog makes a store with a log without messages, whose first message will have a number: the log of a cell that
// continues what is in segments.
func MakeLog(dir string, first uint64) error {
	s, err := Start(ServerOptions{Dir: dir, Durable: true})
	if err != nil {
		return err
	}
	defer s.Stop()
	c, err := s.Connect(Identity{Role: QMaster, Name: "qmaster"})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = Open(c, LogOptions{First: first})
	return err
}
