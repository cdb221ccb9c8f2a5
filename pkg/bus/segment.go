package bus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Segments is the history of a cell as files, for replay: the frames of the log
// exactly as they were written, compressed, exported before the log is purged.
//
// A file FIRST-LAST.seg (stream sequences) is an archive, see Part. Beside them lie
// states from which history can be read, see Keep.
type Segments struct{ dir directory }

const (
	segSuffix = ".seg"
	segBytes  = 64 << 20 // payload of one file, about
)

// OpenSegments keeps segments in dir, which is made if need be.
func OpenSegments(dir string) (*Segments, error) {
	d, err := openDirectory(dir)
	return &Segments{d}, err
}

// Retire exports the log before the point p and then purges it. Without segments
// (nil) history is thrown away. p is usually Snapshots.Oldest: what is older is
// not needed to start. It may run beside appends. A point that is not of this log,
// because the log lost its end behind a snapshot, retires nothing: its number is
// that of another message, or of one to come.
func (l *Log) Retire(p Point, to *Segments) error {
	if p.Stream <= 1 {
		return nil
	}
	if f, err := l.get(context.Background(), p.Stream); err != nil || f.Hash != p.Hash {
		return nil
	}
	if to != nil {
		if err := l.export(p.Stream-1, to); err != nil {
			return fmt.Errorf("export of the log up to message %d: %w", p.Stream-1, err)
		}
	}
	return l.Purge(p)
}

func (l *Log) export(last uint64, to *Segments) error {
	first, err := to.next()
	if err != nil {
		return err
	}
	for first <= last {
		end, err := l.exportFile(first, last, to)
		if err != nil {
			return err
		}
		if end < first {
			return nil // nothing is left of that part of the log
		}
		first = end + 1
	}
	return nil
}

// errFull ends one file.
var errFull = errors.New("segment is full")

// exportFile writes one file that begins at first or, if that is purged already,
// at the first message there is. It returns the last message in it.
func (l *Log) exportFile(first, last uint64, to *Segments) (end uint64, err error) {
	var begin uint64
	size := 0
	err = to.dir.putAs(func(out io.Writer) (string, error) {
		w, err := NewArchiveWriter(out)
		if err != nil {
			return "", err
		}
		err = l.each(first, last, func(stream uint64, data []byte) error {
			if begin == 0 {
				begin = stream
			}
			if err := w.Frame(stream, data); err != nil {
				return err
			}
			end = stream
			if size += len(data); size >= segBytes {
				return errFull
			}
			return nil
		})
		if err != nil && !errors.Is(err, errFull) || begin == 0 {
			return "", err
		}
		return SegmentName(begin, end), w.Close()
	})
	return end, err
}

// SegmentName is the name of the file that holds the messages from begin to end.
func SegmentName(begin, end uint64) string {
	return fmt.Sprintf("%020d-%020d%s", begin, end, segSuffix)
}

// next is the first message that is not exported yet.
func (s *Segments) next() (uint64, error) {
	files, _, err := s.inventory()
	if err != nil || len(files) == 0 {
		return 1, err
	}
	return files[len(files)-1].last + 1, nil
}

// Read gives every exported frame after from to fn in order, checked as Log.Read
// checks them, and returns the end: Log.Read goes on from there.
func (s *Segments) Read(from Point, fn func(Frame) error) (Point, error) {
	files, _, err := s.inventory()
	if err != nil {
		return from, err
	}
	r := &reader{fn: fn, chain: chain{end: from}}
	take := func(stream uint64, data []byte) error {
		if stream <= from.Stream {
			return nil
		}
		return r.take(stream, data)
	}
	for _, f := range files {
		if f.last <= from.Stream {
			continue
		}
		if err := readSegment(s.path(f.name), take); err != nil {
			return r.chain.end, fmt.Errorf("segment %s: %w", f.name, err)
		}
	}
	return r.chain.end, nil
}

// ReadSegments is OpenSegments for who only reads: nothing in dir is changed.
func ReadSegments(dir string) *Segments { return &Segments{directory(dir)} }

// Archives opens every segment, and every state that is kept beside them, the oldest
// first. Close the files when done.
func (s *Segments) Archives() (segments, states []*os.File, err error) {
	files, kept, err := s.inventory()
	open := func(list []spooled) (opened []*os.File) {
		for _, spool := range list {
			f, bad := os.Open(s.path(spool.name))
			if bad != nil {
				err = fmt.Errorf("history: %w", bad)
				break
			}
			opened = append(opened, f)
		}
		return opened
	}
	return open(files), open(kept), err
}

func (s *Segments) path(name string) string { return filepath.Join(string(s.dir), name) }

func readSegment(path string, fn func(stream uint64, data []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	a, err := OpenArchive(f, info.Size())
	if err != nil {
		return err
	}
	for _, b := range a.Blocks {
		if b.Part == PartFrames {
			if err := a.Each(b, fn); err != nil {
				return err
			}
		}
	}
	return a.Short
}
