package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/frame"
)

// snapshotsKept is how many snapshots are kept if nothing else is said: the
// older ones are for the case that the newest cannot be read.
const snapshotsKept = 3

// Store is where snapshots are: a directory, or a bucket of an external server.
type Store interface {
	// Put stores what write writes under name, wholly or not at all.
	Put(name string, write func(io.Writer) error) error
	// Open returns the content of name; it is read twice.
	Open(name string) (io.ReadSeekCloser, error)
	Names() ([]string, error)
	Remove(name string) error
}

// Snapshots are full states of the cell, each at a Point of the log. The contents of a
// chunk are defined by the owner. One snapshot is written at a time.
type Snapshots struct {
	Keep  int // how many are kept, at least 1; what is older than all of them may be retired
	store Store
}

// The bytes of a snapshot: the stored Point; each chunk as its
// length (4 bytes, big-endian) and its bytes; length 0xFFFFFFFF; the SHA-256 of
// all that.
const (
	snapSuffix   = ".snap"
	snapEnd      = 0xFFFFFFFF
	snapChunkMax = 64 << 20
)

// Write stores the state at a point, chunk by chunk, and removes the oldest ones. The
// state must be a copy that does not change; Write may run beside the owner's work. When
// it returns nil the snapshot is on disk: call Log.SetBase.
func (s *Snapshots) Write(at frame.Point, chunks iter.Seq[[]byte]) error {
	err := s.store.Put(snapName(at), func(w io.Writer) error { return writeSnapshot(w, at, chunks) })
	if err != nil {
		return fmt.Errorf("snapshot at list %d: %w", at.Seq, err)
	}
	names, err := s.list()
	if err != nil {
		return err
	}
	for len(names) > max(1, s.Keep) {
		if err := s.store.Remove(names[0]); err != nil {
			return fmt.Errorf("old snapshot: %w", err)
		}
		names = names[1:]
	}
	return nil
}

// Newest gives every chunk of the newest good snapshot to each and returns its
// point; the zero Point if there is none. A snapshot that cannot be read is
// passed to reject, and the one before it is tried: each is called only with
// chunks of a snapshot that is known to be good.
func (s *Snapshots) Newest(reject func(name string, why error), each func(chunk []byte) error) (frame.Point, error) {
	names, err := s.list()
	if err != nil {
		return frame.Point{}, err
	}
	for _, name := range slices.Backward(names) {
		f, err := s.check(name)
		if err != nil {
			reject(name, err)
			continue
		}
		defer f.Close()
		return readSnapshot(f, each)
	}
	return frame.Point{}, nil
}

// Oldest is the point of the oldest good snapshot: nothing before it is needed
// to start. The zero Point if there is none.
func (s *Snapshots) Oldest() (frame.Point, error) {
	names, err := s.list()
	if err != nil {
		return frame.Point{}, err
	}
	for _, name := range names {
		if f, err := s.check(name); err == nil {
			defer f.Close()
			return readPoint(f)
		}
	}
	return frame.Point{}, nil
}

// NewestPoint returns the point of the newest snapshot, which may be damaged; the zero Point if there is none, or it is
// not known.
func (s *Snapshots) NewestPoint() (at frame.Point) {
	names, err := s.list()
	if err != nil || len(names) == 0 {
		return at
	}
	if at, _, err = s.Head(names[len(names)-1]); err != nil {
		return frame.Point{}
	}
	return at
}

// check reads a snapshot to its end and leaves it at its beginning.
func (s *Snapshots) check(name string) (io.ReadSeekCloser, error) {
	f, err := s.store.Open(name)
	if err != nil {
		return nil, err
	}
	if _, err = readSnapshot(f, func([]byte) error { return nil }); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Points are the names of all snapshots by the Seq of their Points, good ones or
// not.
func (s *Snapshots) Points() (map[uint64]string, error) {
	names, err := s.list()
	points := make(map[uint64]string, len(names))
	for _, name := range names {
		var seq uint64
		if n, _ := fmt.Sscanf(name, "%d"+snapSuffix, &seq); n == 1 {
			points[seq] = name
		}
	}
	return points, err
}

// Read gives every chunk of one snapshot to each, if all of it is good, and
// returns its point.
func (s *Snapshots) Read(name string, each func(chunk []byte) error) (frame.Point, error) {
	f, err := s.check(name)
	if err != nil {
		return frame.Point{}, err
	}
	defer f.Close()
	return readSnapshot(f, each)
}

// Scan is Read in one pass: each may have been called with chunks of a snapshot that the error says is not good. It may
// keep them.
func (s *Snapshots) Scan(name string, each func(chunk []byte) error) (frame.Point, error) {
	f, err := s.store.Open(name)
	if err != nil {
		return frame.Point{}, err
	}
	defer f.Close()
	return readSnapshot(f, each)
}

// Head is the point and the first chunk of a snapshot, of which the rest may be good or not.
func (s *Snapshots) Head(name string) (at frame.Point, chunk []byte, err error) {
	f, err := s.store.Open(name)
	if err != nil {
		return at, nil, err
	}
	defer f.Close()
	at, err = readSnapshot(f, func(first []byte) error {
		chunk = first
		return errHead
	})
	if err == errHead {
		err = nil
	}
	return at, chunk, err
}

var errHead = errors.New("that is enough")

// Clear removes all snapshots.
func (s *Snapshots) Clear() error {
	names, err := s.list()
	for _, name := range names {
		err = errors.Join(err, s.store.Remove(name))
	}
	return err
}

func (s *Snapshots) list() ([]string, error) {
	names, err := s.store.Names()
	if err != nil {
		return nil, fmt.Errorf("snapshots: %w", err)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, snapSuffix) })
	slices.Sort(names)
	return names, nil
}

func snapName(at frame.Point) string { return fmt.Sprintf("%020d%s", at.Seq, snapSuffix) }

func writeSnapshot(out io.Writer, at frame.Point, chunks iter.Seq[[]byte]) error {
	sum := sha256.New()
	buffered := bufio.NewWriterSize(out, 256<<10)
	w := io.MultiWriter(buffered, sum)
	if _, err := w.Write(frame.AppendPoint(nil, at)); err != nil {
		return err
	}
	var size [4]byte
	for chunk := range chunks {
		if len(chunk) > snapChunkMax {
			return fmt.Errorf("chunk of %d bytes", len(chunk))
		}
		binary.BigEndian.PutUint32(size[:], uint32(len(chunk)))
		w.Write(size[:]) // the writer keeps its error for the next
		if _, err := w.Write(chunk); err != nil {
			return err
		}
	}
	binary.BigEndian.PutUint32(size[:], snapEnd)
	w.Write(size[:])
	buffered.Write(sum.Sum(nil))
	return buffered.Flush()
}

var errSnapshot = errors.New("not a whole snapshot")

func readPoint(r io.Reader) (frame.Point, error) {
	var head [frame.PointSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame.Point{}, fmt.Errorf("%w: %w", errSnapshot, err)
	}
	p, err := frame.DecodePoint(head[:])
	if err != nil {
		return frame.Point{}, fmt.Errorf("%w: %w", errSnapshot, err)
	}
	return p, nil
}

func readSnapshot(in io.Reader, each func([]byte) error) (frame.Point, error) {
	sum := sha256.New()
	buffered := bufio.NewReaderSize(in, 256<<10)
	r := summing{buffered, sum}
	at, err := readPoint(r)
	if err != nil {
		return frame.Point{}, err
	}
	var size [4]byte
	for {
		if _, err := io.ReadFull(r, size[:]); err != nil {
			return frame.Point{}, fmt.Errorf("%w: %w", errSnapshot, err)
		}
		n := binary.BigEndian.Uint32(size[:])
		if n == snapEnd {
			break
		}
		if n > snapChunkMax {
			return frame.Point{}, fmt.Errorf("%w: chunk of %d bytes", errSnapshot, n)
		}
		chunk := make([]byte, n)
		if _, err := io.ReadFull(r, chunk); err != nil {
			return frame.Point{}, fmt.Errorf("%w: %w", errSnapshot, err)
		}
		if err := each(chunk); err != nil {
			return at, err
		}
	}
	var stored [sha256.Size]byte
	if _, err := io.ReadFull(buffered, stored[:]); err != nil {
		return frame.Point{}, fmt.Errorf("%w: %w", errSnapshot, err)
	}
	if !bytes.Equal(stored[:], sum.Sum(nil)) {
		return frame.Point{}, fmt.Errorf("%w: checksum differs", errSnapshot)
	}
	return at, nil
}

// summing reads and adds what was read to a checksum.
type summing struct {
	from io.Reader
	sum  hash.Hash
}

func (s summing) Read(b []byte) (int, error) {
	n, err := s.from.Read(b)
	s.sum.Write(b[:n])
	return n, err
}

// NewSnapshots keeps snapshots in a store.
func NewSnapshots(in Store) *Snapshots { return &Snapshots{snapshotsKept, in} }

// OpenSnapshots keeps snapshots as files in dir, which is made if need be.
func OpenSnapshots(dir string) (*Snapshots, error) {
	d, err := openDirectory(dir)
	return NewSnapshots(d), err
}

// ReadSnapshots is OpenSnapshots for who only reads: nothing in dir is changed.
func ReadSnapshots(dir string) *Snapshots { return NewSnapshots(directory(dir)) }
