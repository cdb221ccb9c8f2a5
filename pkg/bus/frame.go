package bus

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// FrameMax is the largest payload of one frame in bytes. A longer list is cut
// into parts that travel in consecutive frames and are joined by the reader.
const FrameMax = 256 << 10

// Epoch names one reign over the log: a counter that grows with every owner,
// and a random part so that two owners never share one. An epoch is older than
// another if it is smaller; whoever gets a command of an older epoch refuses it.
type Epoch uint64

// NewEpoch is the epoch after old, with the given random bits.
func NewEpoch(old Epoch, random uint32) Epoch {
	return Epoch((uint64(old)>>32+1)<<32 | uint64(random))
}

// Reign is the counting part: the how-manieth owner.
func (e Epoch) Reign() uint32 { return uint32(e >> 32) }

func (e Epoch) String() string { return fmt.Sprintf("%d-%08x", e.Reign(), uint32(e)) }

// Hash is the SHA-256 of a frame.
type Hash [sha256.Size]byte

func (h Hash) String() string { return fmt.Sprintf("%x", h[:6]) }

// Point is a place in the log: all lists up to and including Seq, the last of
// them in the frame at stream sequence Stream with the given Hash. The zero
// Point is before the first list.
type Point struct {
	Epoch  Epoch
	Seq    uint64
	Stream uint64
	Hash   Hash
}

func (p Point) String() string {
	return fmt.Sprintf("epoch %s list %d (message %d, %s)", p.Epoch, p.Seq, p.Stream, p.Hash)
}

// Flags of a frame.
const (
	// More: the lists of this frame are continued by the next; Payload is a part of
	// them.
	More uint16 = 1 << iota
	// Rest: Payload continues what the frame before began. A frame without Rest
	// after one with More means that what was begun was never acknowledged: drop it.
	Rest
	// TakeOver: first frame of an epoch; no payload, Last is the Seq the new owner
	// goes on from.
	TakeOver
	// Jump: with TakeOver, the log has lost its end and the owner goes on from a
	// snapshot at Base: Last may be greater than what the log holds.
	Jump
)

// Frame is one message of the log: a head, and as payload the consecutive lists
// First to Last one behind the other, opaque here. A frame without lists has
// First = Last+1.
type Frame struct {
	Flags  uint16
	Count  uint32 // lists that end in this frame
	Epoch  Epoch
	First  uint64 // Seq of the first list
	Last   uint64 // Seq of the last list
	Prev   uint64 // stream sequence of the frame before; 0: none
	Base   uint64 // Seq of the newest snapshot when the frame was written
	Before Hash   // hash of the frame before

	Payload []byte

	Stream uint64 // own stream sequence; not part of the bytes
	Hash   Hash   // own hash
	Raw    []byte // the whole frame as bytes, to be published or stored as it is
}

// End is the point of the log after f. Lists that are continued do not count yet.
func (f *Frame) End() Point {
	p := Point{f.Epoch, f.Last, f.Stream, f.Hash}
	if f.Flags&More != 0 {
		p.Seq = f.First - 1
	}
	return p
}

// The bytes of a frame: magic "GEF" and version, the fields of the head in the
// order above, big-endian, the payload, the SHA-256 of all that.
const (
	frameMagic   = "GEF\x01"
	frameHead    = 4 + 2 + 4 + 5*8 + sha256.Size
	frameMinimum = frameHead + sha256.Size
)

// ErrBadFrame is wrapped by every error about bytes that are no frame or not the
// frame that was written.
var ErrBadFrame = errors.New("not a valid frame")

// AppendFrame appends the bytes of f to dst and sets f.Hash and f.Raw.
func AppendFrame(dst []byte, f *Frame) []byte {
	start := len(dst)
	dst = append(dst, frameMagic...)
	dst = binary.BigEndian.AppendUint16(dst, f.Flags)
	dst = binary.BigEndian.AppendUint32(dst, f.Count)
	for _, v := range [...]uint64{uint64(f.Epoch), f.First, f.Last, f.Prev, f.Base} {
		dst = binary.BigEndian.AppendUint64(dst, v)
	}
	dst = append(dst, f.Before[:]...)
	dst = append(dst, f.Payload...)
	f.Hash = sha256.Sum256(dst[start:])
	dst = append(dst, f.Hash[:]...)
	f.Raw = dst[start:]
	return dst
}

// payload is the part of Raw.
func (f *Frame) payload() []byte {
	end := len(f.Raw) - sha256.Size
	return f.Raw[frameHead:end:end]
}

// DecodeFrame reads the bytes of one frame and checks its hash. Payload and Raw
// share memory with b.
func DecodeFrame(b []byte) (Frame, error) {
	f, err := decodeHead(b)
	if err != nil {
		return Frame{}, err
	}
	end := len(b) - sha256.Size
	f.Hash = sha256.Sum256(b[:end])
	if f.Hash != Hash(b[end:]) {
		return Frame{}, fmt.Errorf("%w: checksum of lists %d to %d differs", ErrBadFrame, f.First, f.Last)
	}
	return f, nil
}

// decodeHead is DecodeFrame without the hash.
func decodeHead(b []byte) (Frame, error) {
	if len(b) < frameMinimum || string(b[:3]) != frameMagic[:3] {
		return Frame{}, fmt.Errorf("%w: %d bytes without a frame's head", ErrBadFrame, len(b))
	}
	if b[3] != frameMagic[3] {
		return Frame{}, fmt.Errorf("%w: format version %d, this program reads version %d", ErrBadFrame, b[3], frameMagic[3])
	}
	end := len(b) - sha256.Size
	f := Frame{
		Flags: binary.BigEndian.Uint16(b[4:]),
		Count: binary.BigEndian.Uint32(b[6:]),
		Epoch: Epoch(binary.BigEndian.Uint64(b[10:])),
		First: binary.BigEndian.Uint64(b[18:]),
		Last:  binary.BigEndian.Uint64(b[26:]),
		Prev:  binary.BigEndian.Uint64(b[34:]),
		Base:  binary.BigEndian.Uint64(b[42:]),
	}
	copy(f.Before[:], b[50:])
	f.Payload, f.Raw = b[frameHead:end:end], b
	return f, nil
}
