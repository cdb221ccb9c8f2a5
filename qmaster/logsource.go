package qmaster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/history"
)

// dirs are the folders of a cell that qmaster alone uses.
type dirs struct{ log, snapshots, segments string }

func dirsOf(c cell.Cell) dirs {
	return dirs{filepath.Join(c.Dir(), history.StoreDir), filepath.Join(c.Dir(), history.SnapshotsDir),
		filepath.Join(c.Dir(), history.SegmentsDir)}
}

// logSource is what a start reads: the newest good full state, and the log after it.
type logSource struct {
	snapshots *archive.Snapshots
	segments  *archive.Segments   // nil: there is no history
	log       *bus.Log            // the stream
	damaged   func(*frame.Damage) // called with damage, which is jumped over; nil: it is an error

	past       bool // the state is one of the history: what followed is there, too
	inSegments bool // what followed cannot be read
}

// newest gives the chunks of the newest good snapshot to each, and without a snapshot those of the newest state of the
// history. It returns the point; the zero Point if there is none.
func (s *logSource) newest(reject func(string, error), each func([]byte) error) (frame.Point, error) {
	at, err := s.snapshots.Newest(reject, each)
	if (err == nil || errors.Is(err, fs.ErrNotExist)) && at == (frame.Point{}) && s.segments != nil {
		s.past = true
		at, err = s.segments.Newest(reject, each)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return at, err
}

// read reads the log after at; without a snapshot the history before it.
func (s *logSource) read(at frame.Point, take func(frame.Frame) error) (err error) {
	if s.past {
		if at, err = s.segments.Read(at, take); err != nil {
			s.inSegments = true
			return err
		}
	}
	if s.damaged != nil {
		_, err = s.log.Salvage(at, s.damaged, take)
		return err
	}
	_, err = s.log.Read(at, take)
	return err
}

// refusal adds to an error of read what to do about a damage.
func (s *logSource) refusal(err error, where cell.Cell) error {
	if !errors.As(err, new(*frame.Damage)) {
		return err
	}
	advice := ", or give up what cannot be read: qmaster --repair"
	if s.inSegments {
		advice = ": without a snapshot the history is needed, and --repair gives up nothing of that"
	}
	return fmt.Errorf("%w\nWhat the log says from there on is not known for sure, so qmaster does not start. "+
		"Restore %s from a backup%s", err, where.Dir(), advice)
}

// checkLog fails if the log is damaged so that qmaster does not start, before the server sees it: the server cuts a
// block that is damaged, and only --repair may have that done. What the server does, and what qmaster says to what is
// left, is tried on a copy. It is made only where bus.CheckLog finds damage, so that a start takes no longer otherwise.
func checkLog(where cell.Cell, who bus.Identity, forget, repair bool, note hclog.Logger) (bus.LogCheck, error) {
	dir := dirsOf(where).log
	s := logSource{snapshots: archive.ReadSnapshots(dirsOf(where).snapshots)}
	c, err := bus.CheckLog(dir, filepath.Join(dir, history.MarkFile), s.snapshots.NewestPoint().Stream)
	switch {
	case errors.Is(err, bus.ErrInUse):
		return c, nil // bus.Start names the process
	case err != nil || c.Whole || repair:
		return c, err
	}
	note.Warn("the log is damaged: trying on a copy of it whether qmaster can start", "directory", os.TempDir())
	server, err := bus.StartCopy(dir, nil)
	if err != nil {
		return c, fmt.Errorf("the log is damaged, and a copy to try whether qmaster can start cannot be made: %w", err)
	}
	defer server.Stop()
	conn, err := server.Connect(who)
	if err != nil {
		return c, err
	}
	defer conn.Close()
	s.log, err = bus.Open(conn, bus.LogOptions{HighWaterMark: filepath.Join(server.Dir(), history.MarkFile)})
	if err != nil {
		return c, err
	}
	if !forget {
		s.segments = archive.ReadSegments(dirsOf(where).segments)
	}
	at, err := s.newest(func(string, error) {}, func([]byte) error { return nil })
	if err != nil {
		return c, err
	}
	err = s.read(at, func(frame.Frame) error { return nil })
	if errors.As(err, new(*bus.ShortLogError)) {
		return c, nil
	}
	return c, s.refusal(err, where)
}
