package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
)

// Source is which log. One of Cell, Dir and File is set.
type Source struct {
	// Cell is a cell of which the qmaster is asked if it runs: managers see all,
	// other users what the events feed shows them. If it does not run its directory
	// is read.
	Cell cell.Cell
	// By is asked in place of a connection to the Cell as the own user; nil: none.
	By Asker
	// Dir is the directory of a cell that does not run, or a copy of it: nothing
	// there is changed.
	Dir string
	// File is an exported stretch.
	File string

	// From and To say what is wanted of it, for what is asked for over a connection:
	// the state at From or before, and the lists up to To. Zero: all there is.
	From, To gdi.Place
	// Since finds From over the connection; nil: it is known.
	Since func(context.Context, client.Client) (gdi.Place, error)
	// Lists is whether a connection is asked for the lists only, those from From on, without a state.
	Lists bool
	// Odd is called with objects that cannot be read and are left out, unless it is nil.
	Odd func(*codec.Unreadable)
}

// Asker has a stretch of the log written as an archive, as its user may read it: *client.Remote.
type Asker interface {
	History(context.Context, gdi.History, io.Writer) error
}

// Find is the source that a user means: a file or a directory by its path, or
// with "" the cell that the environment names.
func Find(path string, getenv func(string) string) (Source, error) {
	if path == "" {
		cell, err := cell.FindIn(getenv)
		if err == nil {
			err = cell.Check()
		}
		return Source{Cell: cell}, err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return Source{}, err
	case info.IsDir():
		return Source{Dir: path}, nil
	}
	return Source{File: path}, nil
}

// The folders of a cell's directory in which its history lies.
const (
	StoreDir     = "log"
	SnapshotsDir = "snapshots"
	SegmentsDir  = "segments"
	// MarkFile in StoreDir stores the position up to which the log was acknowledged.
	MarkFile = "mark"
	// MovedFile in StoreDir says to which external server the log has moved.
	MovedFile = "moved"
)

// ErrRunning: the directory is that of a running cell.
var ErrRunning = errors.New("cell is running: ask it")

// Open opens the log of a source. A damaged log is opened, too: readers get all that is
// good and then the damage. It fails for a file that is not a log, that a newer program
// has written, or that is empty.
func Open(ctx context.Context, s Source) (*Log, error) {
	l := &Log{odd: s.Odd}
	var err error
	switch {
	case s.File != "":
		l.from = s.File
		err = l.file(s.File)
	case s.Dir != "":
		l.from = s.Dir
		err = l.directory(s.Dir)
	default:
		l.from = "cell " + s.Cell.Name
		err = l.cell(ctx, s)
	}
	if err == nil {
		err = l.settle()
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// file opens an exported file, or a single segment or snapshot of a cell.
func (l *Log) file(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := l.add(f); err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// directory opens what lies in a cell's directory: the segments and snapshots as
// they are, the stream from a copy.
func (l *Log) directory(dir string) error {
	end, err := copyStream(filepath.Join(dir, StoreDir))
	foreign := errors.Is(err, archive.ErrForeign)
	switch {
	case errors.Is(err, bus.ErrInUse):
		return fmt.Errorf("%s: %w", dir, ErrRunning)
	case err != nil && !foreign:
		return err
	}
	err = l.lay(func() error {
		if end == nil {
			return nil
		}
		return l.add(end)
	}, archive.ReadSegments(filepath.Join(dir, SegmentsDir)), archive.ReadSnapshots(filepath.Join(dir, SnapshotsDir)))
	l.mark = filepath.Join(dir, StoreDir, MarkFile)
	if err == nil && foreign && len(l.pieces)+len(l.states) == 0 {
		return fmt.Errorf("%s: %w: name the directory of a cell ($SGE_ROOT/$SGE_CELL) or of a backup", dir, archive.ErrForeign)
	}
	return err
}

// lay takes what a cell has: its segments, the end of them, its snapshots.
func (l *Log) lay(end func() error, segments *archive.Segments, snapshots *archive.Snapshots) (err error) {
	if segments != nil {
		err = l.segments(segments)
	}
	if err = errors.Join(err, end()); err == nil {
		err = l.snapshots(snapshots)
	}
	return err
}

// segments takes the segments of a cell.
func (l *Log) segments(s *archive.Segments) error {
	files, states, err := s.Archives()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, f := range states {
		if !l.addState(f) { // passed over, as a snapshot is that cannot be read
			f.Close()
		}
	}
	for _, f := range files {
		if bad := l.add(f); bad != nil { // damage like another: what comes before is good
			l.pieces, l.close = append(l.pieces, &piece{short: bad}), append(l.close, f.Close)
		}
		l.store.Segments++
	}
	return err
}

// cell asks the qmaster of a cell; without one its directory is read.
func (l *Log) cell(ctx context.Context, s Source) error {
	if s.By != nil {
		return l.ask(ctx, s.By, s)
	}
	r, err := client.Connect(ctx, s.Cell)
	if away := (*client.Unreachable)(nil); errors.As(err, &away) {
		if _, seen := os.Stat(filepath.Join(s.Cell.Dir(), StoreDir)); seen != nil {
			return err // a directory that others may not look into, or on another host
		}
		return l.directory(s.Cell.Dir())
	}
	if err != nil {
		return err
	}
	defer r.Close()
	if s.Since != nil {
		if s.From, err = s.Since(ctx, r); err != nil {
			return err
		}
	}
	return l.ask(ctx, r, s)
}

// ask copies the stretch over a connection.
func (l *Log) ask(ctx context.Context, r Asker, s Source) error {
	f, err := spool()
	if err != nil {
		return err
	}
	err = r.History(ctx, gdi.History{From: s.From, To: s.To, Lists: s.Lists}, f)
	if err == nil {
		err = l.add(f)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// copyStream is the stream of a cell that does not run, and its recorded runs, as
// an archive without a name.
func copyStream(dir string) (*os.File, error) {
	server, err := bus.StartCopy(dir, nil)
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	conn, err := server.Connect(bus.Identity{Role: bus.QMaster, Name: "history"})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	log, err := bus.Open(conn, bus.LogOptions{Existing: true})
	if err != nil {
		return nil, err
	}
	return stream(log, conn)
}

// stream is the stream as it is now, and the recorded runs, as an archive without
// a name.
func stream(log *bus.Log, conn *bus.Conn) (*os.File, error) {
	f, err := spool()
	if err != nil {
		return nil, err
	}
	w, err := archive.NewWriter(f)
	if err == nil {
		_, err = log.CopyMessages(0, w.Frame)
	}
	if err == nil {
		err = bus.NewDebug(conn, 1).Read(func(data []byte) error { return putRun(w, data) })
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Within opens the log of a cell to which this process belongs, up to what is durable
// now. The stream is not copied: nothing may be retired before Close.
func Within(
	cell string, log *bus.Log, conn *bus.Conn, snapshots *archive.Snapshots, segments *archive.Segments,
) (*Log, error) {
	l := &Log{from: "cell " + cell}
	err := l.lay(func() error { return l.streams(log, bus.NewDebug(conn, 1)) }, segments, snapshots)
	if err == nil {
		err = l.settle()
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// streams takes the stream of a cell, and that of recorded runs, as they are.
func (l *Log) streams(log *bus.Log, debug *bus.Debug) error {
	frames, err := log.View()
	if err != nil {
		return err
	}
	runs, err := debug.View(func(data []byte) (uint64, bool) {
		r, err := codec.DecodeRecord(data)
		return r.List.Seq, err == nil
	})
	if err != nil {
		return err
	}
	l.pieces = append(l.pieces, &piece{source: frames, frames: frames.Blocks}, &piece{source: runs, runs: runs.Blocks})
	return nil
}

// putRun writes a recorded order list; one that cannot be read has no place.
func putRun(w *archive.Writer, data []byte) error {
	r, err := codec.DecodeRecord(data)
	if err != nil {
		return nil
	}
	return w.Run(r.List.Seq, data)
}
