package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/quill-grid/quill/pkg/frame"
)

// An archive is a stretch of history in one file that can be read from anywhere:
// a segment that a cell retires, or an export. Its bytes are the
// magic "GEX" and the version, then blocks. A block is a head
//
//	part (1 byte), first and last Seq, epoch (8 bytes each), length of the raw and
//	of the packed bytes (4 bytes each), all big-endian
//
// the packed bytes (zstd of the raw ones), and the SHA-256 of both. The last block
// is PartEnd, whose raw bytes are the SHA-256 of the sums of all blocks before it:
// a file that was cut is known by its absence.
type Part byte

// Contents of a block.
const (
	// PartInfo: what the writer says of the file; opaque here.
	PartInfo Part = 'I'
	// PartState: a Point as a snapshot begins with it and some of the lists that make up
	// the full state there. Blocks of one state follow each other; First and Last are the
	// Point's Seq.
	PartState Part = 'S'
	// PartFrames: frames as they were written, each as its stream sequence (8 bytes),
	// its length (4 bytes) and its bytes. None begins within a list.
	PartFrames Part = 'F'
	// PartRuns: recorded order lists, each as its Seq (8), its length (4) and its bytes.
	PartRuns Part = 'R'
	// PartEnd: the last block.
	PartEnd Part = 'E'
)

const (
	archiveMagic   = "GEX\x01"
	archiveHead    = 1 + 3*8 + 2*4
	archiveBlock   = 64 << 10 // raw bytes of a block, about: what a flipped bit costs
	archiveRawMax  = 256 << 20
	archivePackMax = 256 << 20
)

// Block is where a block is and what is in it.
type Block struct {
	Part        Part
	First, Last uint64      // Seqs
	Epoch       frame.Epoch // of the last frame, or of the Point
	Raw, Packed int         // bytes

	At int64 // where it begins: its byte in the file

	sum frame.Hash
}

// Writer writes an archive. Its errors stick: Close returns the first.
type Writer struct {
	out  io.Writer
	zstd *zstd.Encoder
	sums hash.Hash
	head []byte
	pack []byte
	now  Block // frames or runs that are being gathered
	raw  []byte
	err  error
}

// NewWriter begins an archive on out that is to be kept.
func NewWriter(out io.Writer) (*Writer, error) { return newWriter(out, zstd.SpeedDefault) }

// NewQuickWriter begins an archive on out for which its reader waits: packed less, in less time.
func NewQuickWriter(out io.Writer) (*Writer, error) { return newWriter(out, zstd.SpeedFastest) }

func newWriter(out io.Writer, level zstd.EncoderLevel) (*Writer, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(level))
	if err != nil {
		return nil, err
	}
	w := &Writer{out: out, zstd: z, sums: sha256.New()}
	_, w.err = io.WriteString(out, archiveMagic)
	return w, nil
}

// Info writes what the writer says of the file.
func (w *Writer) Info(text []byte) { w.part(Block{Part: PartInfo}, text) }

// State writes a chunk of the lists that make up the full state at p.
func (w *Writer) State(p frame.Point, lists []byte) {
	w.flush()
	w.part(Block{Part: PartState, First: p.Seq, Last: p.Seq, Epoch: p.Epoch}, append(frame.AppendPoint(nil, p), lists...))
}

// Frame writes a frame of the log as it is, also one that is damaged: that is
// for the reader to find.
func (w *Writer) Frame(stream uint64, data []byte) error {
	f, err := frame.DecodeHead(data)
	if err != nil {
		f = frame.Frame{Epoch: w.now.Epoch, First: w.now.Last + 1, Last: w.now.Last}
	}
	if w.now.Part != PartFrames || len(w.raw) >= archiveBlock && f.Flags&frame.Rest == 0 {
		w.flush()
		w.now = Block{Part: PartFrames, First: f.First}
	}
	w.now.Last, w.now.Epoch = max(w.now.Last, f.Last), f.Epoch
	w.put(stream, data)
	return w.err
}

// Run writes a recorded order list that was decided at seq.
func (w *Writer) Run(seq uint64, data []byte) error {
	if w.now.Part != PartRuns || len(w.raw) >= archiveBlock {
		w.flush()
		w.now = Block{Part: PartRuns, First: seq}
	}
	w.now.Last = seq
	w.put(seq, data)
	return w.err
}

func (w *Writer) put(number uint64, data []byte) {
	w.raw = binary.BigEndian.AppendUint64(w.raw, number)
	w.raw = binary.BigEndian.AppendUint32(w.raw, uint32(len(data)))
	w.raw = append(w.raw, data...)
}

// Close ends the archive; it does not close what it was written to.
func (w *Writer) Close() error {
	w.flush()
	w.part(Block{Part: PartEnd}, w.sums.Sum(nil))
	return errors.Join(w.err, w.zstd.Close())
}

func (w *Writer) flush() {
	if w.now.Part == 0 {
		return
	}
	w.part(w.now, w.raw)
	w.now, w.raw = Block{}, w.raw[:0]
}

func (w *Writer) part(b Block, raw []byte) {
	if w.err != nil {
		return
	}
	if len(raw) > archiveRawMax {
		w.err = fmt.Errorf("block of %d bytes", len(raw))
		return
	}
	w.pack = w.zstd.EncodeAll(raw, w.pack[:0])
	w.head = append(w.head[:0], byte(b.Part))
	for _, v := range [...]uint64{b.First, b.Last, uint64(b.Epoch)} {
		w.head = binary.BigEndian.AppendUint64(w.head, v)
	}
	w.head = binary.BigEndian.AppendUint32(w.head, uint32(len(raw)))
	w.head = binary.BigEndian.AppendUint32(w.head, uint32(len(w.pack)))
	sum := blockSum(w.head, w.pack)
	w.sums.Write(sum[:])
	for _, bytes := range [...][]byte{w.head, w.pack, sum[:]} {
		if _, err := w.out.Write(bytes); err != nil {
			w.err = err
			return
		}
	}
}

func blockSum(head, packed []byte) (sum frame.Hash) {
	h := sha256.New()
	h.Write(head)
	h.Write(packed)
	h.Sum(sum[:0])
	return sum
}

// Errors about files that are no archives.
var (
	// ErrForeign: the bytes are not ours.
	ErrForeign = errors.New("not a log of quill")
	// ErrNewer: a newer program wrote it.
	ErrNewer = errors.New("written by a newer program")
	// ErrCut: the end is missing.
	ErrCut = errors.New("it is cut off")
)

// Archive is an archive being read.
type Archive struct {
	Blocks []Block // in the order in which they stand
	Short  error   // why the blocks are not all: ErrCut, or damage
	in     io.ReaderAt
	zstd   *zstd.Decoder
}

// Open finds the blocks of an archive of size bytes, without reading what
// is in them. The error is ErrForeign or ErrNewer, or in cannot be read.
func Open(in io.ReaderAt, size int64) (*Archive, error) {
	var magic [len(archiveMagic)]byte
	if n, err := in.ReadAt(magic[:], 0); n < len(magic) {
		if err == io.EOF {
			err = ErrForeign
		}
		return nil, err
	}
	switch {
	case string(magic[:3]) != archiveMagic[:3]:
		return nil, ErrForeign
	case magic[3] > archiveMagic[3]:
		return nil, fmt.Errorf("%w: format version %d, this program reads version %d", ErrNewer, magic[3], archiveMagic[3])
	case magic[3] < archiveMagic[3]:
		return nil, fmt.Errorf("%w: no archive has version %d", ErrForeign, magic[3])
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(archiveRawMax))
	if err != nil {
		return nil, err
	}
	a := &Archive{in: in, zstd: z}
	a.Short = a.scan(size)
	return a, nil
}

// scan finds the blocks. The error says why they are not all.
func (a *Archive) scan(size int64) error {
	sums := sha256.New()
	head := make([]byte, archiveHead)
	for at := int64(len(archiveMagic)); ; {
		if _, err := a.in.ReadAt(head, at); err != nil {
			return ErrCut
		}
		b := Block{
			Part:  Part(head[0]),
			First: binary.BigEndian.Uint64(head[1:]), Last: binary.BigEndian.Uint64(head[9:]),
			Epoch: frame.Epoch(binary.BigEndian.Uint64(head[17:])),
			Raw:   int(binary.BigEndian.Uint32(head[25:])), Packed: int(binary.BigEndian.Uint32(head[29:])),
			At: at,
		}
		switch {
		case !bytes.ContainsRune([]byte("ISFRE"), rune(b.Part)) || b.Raw > archiveRawMax || b.Packed > archivePackMax:
			return fmt.Errorf("%w: no block at byte %d", errBlock, at)
		case at+archiveHead+int64(b.Packed)+sha256.Size > size:
			return ErrCut
		}
		if _, err := a.in.ReadAt(b.sum[:], at+archiveHead+int64(b.Packed)); err != nil {
			return err
		}
		if b.Part == PartEnd {
			raw, err := a.Read(b)
			if err == nil && !bytes.Equal(raw, sums.Sum(nil)) {
				err = fmt.Errorf("%w: the checksum of the whole differs", errBlock)
			}
			return err
		}
		sums.Write(b.sum[:])
		a.Blocks = append(a.Blocks, b)
		at += archiveHead + int64(b.Packed) + sha256.Size
	}
}

var errBlock = errors.New("it is damaged")

// Read returns the raw bytes of a block.
func (a *Archive) Read(b Block) ([]byte, error) {
	buf := make([]byte, archiveHead+b.Packed)
	if _, err := a.in.ReadAt(buf, b.At); err != nil {
		return nil, err
	}
	head, packed := buf[:archiveHead], buf[archiveHead:]
	if blockSum(head, packed) != b.sum {
		return nil, fmt.Errorf("%w: the checksum of the block at byte %d (lists %d to %d) differs", errBlock,
			b.At, b.First, b.Last)
	}
	raw, err := a.zstd.DecodeAll(packed, make([]byte, 0, b.Raw))
	if err == nil && len(raw) != b.Raw {
		err = fmt.Errorf("it unpacks to %d bytes, not %d", len(raw), b.Raw)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: block at byte %d: %w", errBlock, b.At, err)
	}
	return raw, nil
}

// State reads a block of PartState.
func (a *Archive) State(b Block) (p frame.Point, lists []byte, err error) {
	raw, err := a.Read(b)
	if err != nil {
		return frame.Point{}, nil, err
	}
	if len(raw) < frame.PointSize {
		return frame.Point{}, nil, fmt.Errorf("%w: a state without its point", errBlock)
	}
	p, err = frame.DecodePoint(raw)
	return p, raw[frame.PointSize:], err
}

// Each reads a block of PartFrames or PartRuns and calls fn with what is in it:
// the number, which is the stream sequence or the Seq, and the bytes, which fn
// may keep.
func (a *Archive) Each(b Block, fn func(number uint64, data []byte) error) error {
	raw, err := a.Read(b)
	for err == nil && len(raw) > 0 {
		if len(raw) < 12 {
			return fmt.Errorf("%w: half an entry", errBlock)
		}
		number, n := binary.BigEndian.Uint64(raw), int(binary.BigEndian.Uint32(raw[8:]))
		if raw = raw[12:]; n > len(raw) {
			return fmt.Errorf("%w: half an entry", errBlock)
		}
		err = fn(number, raw[:n:n])
		raw = raw[n:]
	}
	return err
}

// EachState reads a full state, whose first block is Blocks[i]: fn is called with
// the lists of each block.
func (a *Archive) EachState(i int, fn func(lists []byte) error) (frame.Point, error) {
	var at frame.Point
	for ; i < len(a.Blocks) && a.Blocks[i].Part == PartState; i++ {
		p, lists, err := a.State(a.Blocks[i])
		if err != nil {
			return at, err
		}
		if at != (frame.Point{}) && p != at {
			break // the next state
		}
		at = p
		if err := fn(lists); err != nil {
			return at, err
		}
	}
	return at, nil
}
