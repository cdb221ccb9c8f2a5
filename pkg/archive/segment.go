package archive

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/quill-grid/quill/pkg/frame"
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

// errFull ends one file.
var errFull = errors.New("segment is full")

// Write writes one file of the messages that each calls its function with, until the file is full. It returns the last
// message in it, 0 when there is none, and fails when each does or the file cannot be written: then there is no file.
func (s *Segments) Write(each func(func(stream uint64, data []byte) error) error) (end uint64, err error) {
	var begin uint64
	size := 0
	err = s.dir.putAs(func(out io.Writer) (string, error) {
		w, err := NewWriter(out)
		if err != nil {
			return "", err
		}
		err = each(func(stream uint64, data []byte) error {
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

// Next returns the first message that is not exported yet.
func (s *Segments) Next() (uint64, error) {
	files, _, err := s.inventory()
	if err != nil || len(files) == 0 {
		return 1, err
	}
	return files[len(files)-1].last + 1, nil
}

// Read gives every exported frame after from to fn in order, checked as Log.Read
// checks them, and returns the end: Log.Read continues from there.
func (s *Segments) Read(from frame.Point, fn func(frame.Frame) error) (frame.Point, error) {
	files, _, err := s.inventory()
	if err != nil {
		return from, err
	}
	r := frame.NewReader(from, fn)
	take := func(stream uint64, data []byte) error {
		if stream <= from.Stream {
			return nil
		}
		return r.Take(stream, data)
	}
	for _, f := range files {
		if f.last <= from.Stream {
			continue
		}
		if err := readSegment(s.path(f.name), take); err != nil {
			return r.End(), fmt.Errorf("segment %s: %w", f.name, err)
		}
	}
	return r.End(), nil
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
	a, err := Open(f, info.Size())
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
