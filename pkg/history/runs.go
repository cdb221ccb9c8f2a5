package history

import (
	"fmt"
	"iter"
	"slices"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
)

// record is a recorded order list.
type record struct {
	seq  uint64
	data []byte
}

// Runs gives the recorded order lists, with qmaster's results, that were decided
// from the Seq on, in the order in which they came. Those that were decided on
// lists which the log has lost since are left out: other lists have those Seqs now.
func (l *Log) Runs(from uint64) iter.Seq2[orders.Record, error] {
	return func(yield func(orders.Record, error) bool) {
		reigns := l.reigns()
		for r, err := range l.records(from) {
			var run orders.Record
			if err == nil {
				if run, err = codec.DecodeRecord(r.data); err != nil {
					err = fmt.Errorf("%s: a recorded run at list %d: %w", l.from, r.seq, err)
				}
			}
			if err == nil && run.List.Epoch != 0 && reigns.at(run.List.Seq) > frame.Epoch(run.List.Epoch) {
				continue
			}
			if !yield(run, err) || err != nil {
				return
			}
		}
	}
}

func (l *Log) records(from uint64) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		for _, p := range l.pieces {
			for _, b := range p.runs {
				if b.Last < from {
					continue
				}
				err := p.Each(b, func(seq uint64, data []byte) error {
					if seq >= from && !yield(record{seq, data}, nil) {
						return errStopped
					}
					return nil
				})
				if err == errStopped {
					return
				}
				if err != nil {
					yield(record{}, fmt.Errorf("%s: recorded runs: %w", l.from, err))
					return
				}
			}
		}
	}
}

// reign is an epoch and the first list that may be of it.
type reign struct {
	first uint64
	epoch frame.Epoch
}

// reigns are those that begin in the log, in order.
type reigns []reign

// at is the epoch in which a list was written; 0 for one that began before the log.
func (r reigns) at(seq uint64) frame.Epoch {
	for _, e := range slices.Backward(r) {
		if e.first <= seq {
			return e.epoch
		}
	}
	return 0
}

// reigns looks into the blocks in which an epoch begins. Damage is for who reads
// the lists to find.
func (l *Log) reigns() (out reigns) {
	var now frame.Epoch
	for _, p := range l.pieces {
		for _, b := range p.frames {
			if b.Epoch == now {
				continue
			}
			now = b.Epoch
			_ = p.Each(b, func(_ uint64, data []byte) error {
				if f, err := frame.Decode(data); err == nil && f.Flags&frame.TakeOver != 0 {
					out = append(out, reign{f.First, f.Epoch})
				}
				return nil
			})
		}
	}
	return out
}
