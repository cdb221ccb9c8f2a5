package mirror

import (
	"fmt"
	"sort"

	"github.com/klauspost/compress/zstd"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
)

// blockRaw is from which size on the encoded lists of a block are compressed together. One list costs the reading of
// its block.
const blockRaw = 64 << 10

// The encoder and the decoder of blocks; both may be used by several goroutines.
var (
	packer = must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(128<<10), zstd.WithLowerEncoderMem(true)))
	unpacker = must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true)))
)

// must returns v: constant options are valid.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// pile is event lists one after the other, compressed. A copy of it has those that were there when it was made, and may
// be read while others are added.
type pile struct {
	blocks []packed
	open   []byte // of the next block
	begin  head   // of the first list in open
	size   int    // bytes of blocks
}

// packed is lists that were compressed together.
type packed struct {
	head
	bytes []byte
}

// head is the place in time of a list.
type head struct {
	seq uint64
	at  grid.Time
}

// spot is where a list begins: in which block, and where in it.
type spot struct{ block, offset uint32 }

// add adds a list and returns where it is.
func (p *pile) add(l events.List) spot {
	if len(p.open) >= blockRaw {
		bytes := packer.EncodeAll(p.open, nil)
		p.blocks, p.size = append(p.blocks, packed{p.begin, bytes}), p.size+len(bytes)
		p.open = nil
	}
	at := spot{uint32(len(p.blocks)), uint32(len(p.open))}
	if len(p.open) == 0 {
		p.begin = head{l.Seq, l.At}
	}
	p.open = codec.AppendList(p.open, l)
	return at
}

// lastBlockBefore returns the last block whose first list is not after what a test says, 0 if there is none.
func (p *pile) lastBlockBefore(after func(head) bool) int {
	n := sort.Search(len(p.blocks), func(i int) bool { return after(p.blocks[i].head) })
	if n == len(p.blocks) && len(p.open) > 0 && !after(p.begin) {
		return n
	}
	return max(n-1, 0)
}

// pileReader reads lists of a pile. The block that was read last stays unpacked.
type pileReader struct {
	pile
	decoder codec.Decoder
	block   int
	raw     []byte // of block; nil: none
	read    int    // lists that were decoded
}

// unpack returns a block unpacked; nil: there is none of this number.
func (r *pileReader) unpack(block int) (_ []byte, err error) {
	switch {
	case block == len(r.blocks):
		return r.open, nil
	case block > len(r.blocks):
		return nil, nil
	case r.raw == nil || r.block != block:
		r.raw, err = unpacker.DecodeAll(r.blocks[block].bytes, r.raw[:0])
		r.block = block
	}
	return r.raw, err
}

// listAt returns the list at a spot.
func (r *pileReader) listAt(at spot) (events.List, error) {
	raw, err := r.unpack(int(at.block))
	if err != nil {
		return events.List{}, err
	}
	l, _, err := r.decode(raw[at.offset:])
	return l, err
}

func (r *pileReader) decode(raw []byte) (l events.List, n int, err error) {
	r.read++
	if l, n, err = r.decoder.List(raw); err != nil {
		err = fmt.Errorf("kept event list: %w", err)
	}
	return l, n, err
}

// listsOf returns the lists of a block.
func (r *pileReader) listsOf(block int) (lists []events.List, err error) {
	raw, err := r.unpack(block)
	for len(raw) > 0 && err == nil {
		var l events.List
		var n int
		if l, n, err = r.decode(raw); err == nil {
			lists, raw = append(lists, l), raw[n:]
		}
	}
	return lists, err
}

// eachFrom calls each with the lists from a block on until it returns false.
func (r *pileReader) eachFrom(block int, each func(events.List) bool) error {
	for ; block <= len(r.blocks); block++ {
		lists, err := r.listsOf(block)
		if err != nil {
			return err
		}
		for _, l := range lists {
			if !each(l) {
				return nil
			}
		}
	}
	return nil
}
