package bus

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Segments is the history of a cell as files, for replay: the frames of the log
// exactly as they were written, compressed, exported before the log is purged.
//
// A file FIRST-LAST.seg (stream sequences) is an archive, see Part. Older ones,
// FIRST-LAST.seg.zst, are zstd of: magic "GEX" and version 1; each frame as its
// stream sequence (8 bytes) and length (4 bytes, big-endian) and its bytes; a
// sequence of 0; the SHA-256 of all that.
type Segments struct{ dir directory }

const (
	segMagic  = "GEX\x01" // of older files
	segSuffix = ".seg"
	oldSuffix = ".seg.zst"
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

func (s *Segments) files() ([]string, error) {
	names, err := s.dir.names()
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, segSuffix) && !strings.HasSuffix(n, oldSuffix) })
	slices.Sort(names)
	return names, err
}

// next is the first message that is not exported yet.
func (s *Segments) next() (uint64, error) {
	names, err := s.files()
	if err != nil || len(names) == 0 {
		return 1, err
	}
	var first, last uint64
	name := names[len(names)-1]
	if _, err := fmt.Sscanf(name, "%d-%d.seg", &first, &last); err != nil {
		return 0, fmt.Errorf("segment %s: %w", name, err)
	}
	return last + 1, nil
}

// Read gives every exported frame to fn in order, checked as Log.Read checks
// them, and returns the end: Log.Read goes on from there.
func (s *Segments) Read(fn func(Frame) error) (Point, error) {
	names, err := s.files()
	if err != nil {
		return Point{}, err
	}
	r := &reader{fn: fn}
	for _, name := range names {
		if err := readSegment(s.path(name), r.take); err != nil {
			return r.chain.end, fmt.Errorf("segment %s: %w", name, err)
		}
	}
	return r.chain.end, nil
}

// ReadSegments is OpenSegments for who only reads: nothing in dir is changed.
func ReadSegments(dir string) *Segments { return &Segments{directory(dir)} }

// Archives opens every segment, the oldest first. An older file that is no archive is
// copied into one: spool gives it a place. Close the files when done.
func (s *Segments) Archives(spool func() (*os.File, error)) (files []*os.File, err error) {
	names, err := s.files()
	for _, name := range names {
		var f *os.File
		if strings.HasSuffix(name, oldSuffix) {
			f, err = upgrade(s.path(name), spool)
		} else {
			f, err = os.Open(s.path(name))
		}
		if err != nil {
			return files, fmt.Errorf("segment %s: %w", name, err)
		}
		files = append(files, f)
	}
	return files, err
}

// upgrade writes an archive of what can be read of an older segment.
func upgrade(path string, spool func() (*os.File, error)) (*os.File, error) {
	f, err := spool()
	if err != nil {
		return nil, err
	}
	w, err := NewArchiveWriter(f)
	if err != nil {
		return f, err
	}
	if readErr := readSegment(path, w.Frame); readErr != nil {
		w.flush() // and no end: it is cut off
		return f, w.err
	}
	return f, w.Close()
}

func (s *Segments) path(name string) string { return filepath.Join(string(s.dir), name) }

func readSegment(path string, fn func(stream uint64, data []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if strings.HasSuffix(path, oldSuffix) {
		return readOldSegment(f, fn)
	}
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

func readOldSegment(in io.Reader, fn func(stream uint64, data []byte) error) error {
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer z.Close()
	sum := sha256.New()
	buffered := bufio.NewReaderSize(z, 256<<10)
	r := summing{buffered, sum}
	var magic [len(segMagic)]byte
	if _, err := io.ReadFull(r, magic[:]); err != nil {
		return err
	}
	if string(magic[:]) != segMagic {
		return fmt.Errorf("it is no segment of version %d", segMagic[3])
	}
	for {
		var head [12]byte
		if _, err := io.ReadFull(r, head[:8]); err != nil {
			return err
		}
		stream := binary.BigEndian.Uint64(head[:])
		if stream == 0 {
			break
		}
		if _, err := io.ReadFull(r, head[8:]); err != nil {
			return err
		}
		n := binary.BigEndian.Uint32(head[8:])
		if n > PayloadMax {
			return fmt.Errorf("frame of %d bytes", n)
		}
		data := make([]byte, n)
		if _, err := io.ReadFull(r, data); err != nil {
			return err
		}
		if err := fn(stream, data); err != nil {
			return err
		}
	}
	var stored Hash
	if _, err := io.ReadFull(buffered, stored[:]); err != nil {
		return err
	}
	if stored != Hash(sum.Sum(nil)) {
		return errors.New("checksum differs")
	}
	return nil
}
