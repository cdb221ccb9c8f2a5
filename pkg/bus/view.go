package bus

import (
	"context"
	"fmt"
	"sort"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/frame"
)

// StreamView is the contents of a stream at one moment, in blocks as an archive has them, but
// without copies: the server sends the messages of a block when it is read. Messages that
// are purged meanwhile are missing.
type StreamView struct {
	Blocks []archive.Block // of PartFrames or PartRuns; At is their first message, Raw what they take of the disk, about

	conn             *Conn
	stream, subjects string
	last             uint64
	number           func(at uint64, data []byte) (n uint64, ok bool) // of an entry
}

// A window has blocks of about so many bytes, but no more than so many of them: each costs a request, for which the
// server keeps 8 MB of the stream in memory for 10 seconds.
const (
	viewBlockBytes = 4 << 20
	viewBlocksMax  = 8
)

// View is the log up to its tail. It needs Read or TakeOver before.
func (l *Log) View() (*StreamView, error) {
	w := &StreamView{conn: l.conn, stream: l.name, subjects: logPrefix + "*", last: l.Tail().Stream,
		number: func(at uint64, _ []byte) (uint64, bool) { return at, true }}
	ctx, cancel := context.WithTimeout(context.Background(), adminWait)
	defer cancel()
	info, err := l.stream.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("log %s: %w", l.name, err)
	}
	var open frame.Epoch // of the frame before the one that is looked at
	end := l.Tail()
	err = w.divideIntoBlocks(ctx, info.State, func(at uint64, data []byte) (archive.Block, bool) {
		f, err := frame.Decode(data)
		if err != nil || f.Flags&frame.Rest != 0 {
			return archive.Block{}, false // a block does not begin within a list
		}
		if open = f.Epoch; f.Flags&frame.TakeOver != 0 {
			open = 0
			if before, err := l.readFrame(ctx, at-1); err == nil {
				open = before.Epoch
			}
		}
		return archive.Block{Part: archive.PartFrames, First: f.First, Epoch: open}, true
	})
	for i := range w.Blocks { // until now, Epoch is that before the block
		b := &w.Blocks[i]
		if b.Last, b.Epoch = end.Seq, end.Epoch; i+1 < len(w.Blocks) {
			b.Last, b.Epoch = w.Blocks[i+1].First-1, w.Blocks[i+1].Epoch
		}
	}
	return w, err
}

// View is what there is now, without what seq cannot find the Seq of.
func (d *Debug) View(seq func(data []byte) (uint64, bool)) (*StreamView, error) {
	w := &StreamView{conn: d.conn, stream: debugStream, subjects: debugPrefix + "*",
		number: func(_ uint64, data []byte) (uint64, bool) { return seq(data) }}
	stream, err := d.findStream()
	if err != nil || stream == nil {
		return w, err
	}
	have := stream.CachedInfo().State
	w.last = have.LastSeq
	ctx, cancel := context.WithTimeout(context.Background(), adminWait)
	defer cancel()
	err = w.divideIntoBlocks(ctx, have, func(_ uint64, data []byte) (archive.Block, bool) {
		n, ok := seq(data)
		return archive.Block{Part: archive.PartRuns, First: n}, ok
	})
	for i := range w.Blocks {
		b := &w.Blocks[i]
		if b.Last = ^uint64(0); i+1 < len(w.Blocks) && w.Blocks[i+1].First >= b.First {
			b.Last = w.Blocks[i+1].First // a log that lost its end goes back
		}
	}
	return w, err
}

// divideIntoBlocks finds the blocks: begin is asked whether one can begin with a message.
func (w *StreamView) divideIntoBlocks(
	ctx context.Context, have jetstream.StreamState, begin func(at uint64, data []byte) (archive.Block, bool),
) error {
	first, last := have.FirstSeq, min(have.LastSeq, w.last)
	if have.Msgs == 0 || first > last {
		return nil
	}
	n := min(have.Bytes/viewBlockBytes+1, viewBlocksMax)
	step := max((last-first+1)/n, 1)
	for at := first; at <= last; {
		data, err := w.conn.peekStored(ctx, w.stream, at)
		if ctx.Err() != nil {
			return fmt.Errorf("stream %s: %w", w.stream, ctx.Err())
		}
		b, ok := archive.Block{}, false
		if err == nil { // else it is for who reads it to find
			b, ok = begin(at, data)
		}
		if !ok {
			at++
			continue
		}
		if b.At = int64(at); len(w.Blocks) == 0 {
			b.At = int64(first)
		}
		w.Blocks = append(w.Blocks, b)
		at += step
	}
	for i := range w.Blocks {
		w.Blocks[i].Raw = int(have.Bytes) / len(w.Blocks)
		w.Blocks[i].Packed = w.Blocks[i].Raw
	}
	return nil
}

// Each calls fn with the entries of a block, as Archive.Each does.
func (w *StreamView) Each(b archive.Block, fn func(number uint64, data []byte) error) error {
	last := w.last
	if i := sort.Search(len(w.Blocks), func(i int) bool { return w.Blocks[i].At > b.At }); i < len(w.Blocks) {
		last = uint64(w.Blocks[i].At) - 1
	}
	return w.conn.readMessages(w.stream, w.subjects, uint64(b.At), last, func(at uint64, data []byte) error {
		if n, ok := w.number(at, data); ok {
			return fn(n, data)
		}
		return nil
	})
}
