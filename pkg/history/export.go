package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/archive"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/grid"
)

// Export is what goes into a file.
type Export struct {
	// From and To are the first and the last list; 0: from the earliest state that
	// can be rebuilt, to the end.
	From, To uint64
	// Kept begins with a full state that was kept instead of making one, so with
	// some more lists: for who is asked over a connection.
	Kept bool
	// Lists leaves the full state out: for who has one.
	Lists bool
	// After is the end of an earlier Export, which this one continues without a seam: as with Lists there is no full
	// state, and it is a damage if the log does not go on from there. The zero Point: none.
	After frame.Point

	// Show is how others see lists, those of the full state too; nil: as they are.
	// Run is the same for recorded order lists, dropped when ok is false; nil: as
	// they are.
	Show func(events.List) events.List
	Run  func(orders.Record) (shown orders.Record, ok bool)

	About About
}

// About is what the writer of a file says of it.
type About struct {
	Program  string    `json:"program,omitempty"`  // what wrote it
	Made     grid.Time `json:"made,omitempty"`     // when
	Redacted bool      `json:"redacted,omitempty"` // names stand for others
	Partial  bool      `json:"partial,omitempty"`  // some things are left out, which its reader may not see
	Lists    bool      `json:"lists,omitempty"`    // there is no full state before the lists
	Store    *Store    `json:"store,omitempty"`    // of a running cell: what lies there
	Damage   string    `json:"damage,omitempty"`   // why there is no more
	// PassedOver is why a stored state was not used, so that an older one was, or recorded orders are left out.
	PassedOver string `json:"passed_over,omitempty"`
}

// Export writes a stretch of the log as an archive that needs nothing else: a
// full state, the lists after it, the recorded runs. If the log is damaged inside
// the stretch, what comes before is written as a whole file and the error is the
// *frame.Damage.
func (l *Log) Export(out io.Writer, e Export) error {
	toEnd := e.To == 0
	if toEnd {
		e.To = l.last.Seq
	}
	switch {
	case e.After != frame.Point{}:
		e.From, e.Lists = e.After.Seq+1, true
	case e.From == 0:
		e.From = l.first.Seq
	}
	if e.From > e.To || e.To < l.first.Seq || e.From > l.last.Seq {
		return fmt.Errorf("%s has lists %d to %d: none from %d to %d", l.from, l.first.Seq, l.last.Seq, e.From, e.To)
	}
	begin := archive.NewWriter
	if e.Kept {
		begin = archive.NewQuickWriter
	}
	w, err := begin(out)
	if err != nil {
		return err
	}
	e.About.Lists = e.Lists
	about, err := json.Marshal(e.About)
	if err != nil {
		return err
	}
	w.Info(about)
	after, err := l.exportState(w, &e)
	if err != nil {
		return err
	}
	x := exporter{w: w, show: e.Show, after: after, to: e.To, seam: e.After}
	lists := x.keep
	if e.Show != nil {
		lists = x.rewrite
	}
	var broken error
	if after < e.To {
		broken = lists(l)
	}
	if broken == nil && toEnd {
		broken = l.after(e.To)
	}
	if err := l.exportRuns(w, &e, after); err != nil {
		return err
	}
	damage := (*frame.Damage)(nil)
	if errors.As(broken, &damage) {
		e.About.Damage = damage.Reason
	}
	if damage != nil || e.About.PassedOver != "" {
		about, err := json.Marshal(e.About)
		if err != nil {
			return err
		}
		w.Info(about)
	}
	if err := w.Close(); err != nil {
		return err
	}
	return broken
}

// exportState writes the full state with which the file begins, if any, and returns the Seq
// after which its lists begin.
func (l *Log) exportState(w *archive.Writer, e *Export) (after uint64, err error) {
	want := max(e.From, 1) - 1
	if e.Lists {
		return want, nil
	}
	if e.Kept {
		want = e.From
	}
	want = max(want, l.first.Seq)
	if e.From <= 1 && l.begins() {
		return 0, nil
	}
	show := func(lists []byte) ([]byte, error) {
		if e.Show == nil {
			return lists, nil
		}
		var dec codec.Decoder
		var out []byte
		err := dec.Lists(lists, l.odd, func(list events.List) error {
			out = codec.AppendList(out, e.Show(list))
			return nil
		})
		return out, err
	}
	if e.Kept {
		return l.exportKept(w, e, want, show)
	}
	p := NewPlayer(l)
	s, err := p.Seek(want)
	if err != nil {
		return 0, err
	}
	for chunk := range Chunks(s) {
		lists, err := show(chunk)
		if err != nil {
			return 0, err
		}
		w.State(frame.Point{Seq: s.Seq}, lists)
	}
	return s.Seq, nil
}

// exportRuns writes the recorded runs that were decided from a Seq on.
func (l *Log) exportRuns(w *archive.Writer, e *Export, from uint64) error {
	for r, err := range l.records(from) {
		if err != nil { // the lists do not need them
			e.About.PassedOver = strings.TrimPrefix(fmt.Sprintf("%s. %v: they are left out", e.About.PassedOver, err), ". ")
			return nil
		}
		if r.seq > e.To {
			continue
		}
		if e.Run != nil {
			record, err := codec.DecodeRecord(r.data)
			if err != nil {
				continue
			}
			shown, ok := e.Run(record)
			if !ok {
				continue
			}
			r.data = codec.AppendRecord(nil, codec.AppendOrders(nil, shown.List), codec.AppendResult(nil, shown.Result))
		}
		if err := w.Run(r.seq, r.data); err != nil {
			return err
		}
	}
	return nil
}

// exportKept writes the newest stored state that is not later than a Seq and is good, as show shows it. It returns the
// Seq after which its lists begin.
func (l *Log) exportKept(
	w *archive.Writer, e *Export, seq uint64, show func([]byte) ([]byte, error),
) (after uint64, err error) {
	for p := range l.statesUntil(seq) {
		point, _, bad := p.head()
		if bad == nil && p.check != nil {
			bad = p.check()
		}
		if e.Show != nil { // frames have a chain of their own
			point = frame.Point{Seq: point.Seq}
		}
		begun := false
		if bad == nil {
			_, bad = p.read(func(chunk []byte) error {
				begun = true
				lists, err := show(chunk)
				w.State(point, lists)
				return err
			})
		}
		if bad == nil || begun {
			return point.Seq, bad
		}
		bad = fmt.Errorf("the stored state %s cannot be used: %w", p.name, bad)
		err = cmp.Or(err, bad)
		e.About.PassedOver = fmt.Sprintf("%v: an older one is used", err)
	}
	switch {
	case l.begins():
		return 0, nil
	case err == nil:
		err = fmt.Errorf("%s begins at list %d", l.from, l.first.Seq)
	}
	return 0, err
}

// exporter writes frames.
type exporter struct {
	w         *archive.Writer
	show      func(events.List) events.List
	after, to uint64
	seam      frame.Point // see Export.After
	end       frame.Point // of what was written
	dec       codec.Decoder
}

// keep writes the frames as they are, the last one without what comes after to.
func (x *exporter) keep(l *Log) error {
	begin, seam := x.after+1, x.seam != frame.Point{}
	chain := frame.NewFileReader(func(frame.Frame) error { return nil })
	if seam {
		begin, chain = x.seam.Seq, frame.NewReader(x.seam, func(frame.Frame) error { return nil })
	}
	err := l.messages(begin, chain, func(stream uint64, data []byte) error {
		if seam && stream <= x.seam.Stream {
			return nil
		}
		if err := chain.Take(stream, data); err != nil {
			return err
		}
		f, err := frame.DecodeHead(data)
		switch {
		case err != nil:
			return err
		case f.First > x.to:
			return errStopped
		case !seam && x.after > 0 && f.Last <= x.after: // the first frame, of the first take-over, has no list
			return nil
		case f.Last <= x.to:
			if err := x.w.Frame(stream, data); err != nil || f.Last < x.to || f.Flags&frame.More != 0 {
				return err
			}
			return errStopped // what follows is not read: it may be damaged
		}
		if f, err = frame.Decode(data); err != nil {
			return err
		}
		f.Stream = stream
		if err := x.cut(&f); err != nil {
			return err
		}
		return errStopped
	})
	if err == errStopped {
		return nil
	}
	return err
}

// cut writes the part of a frame that is wanted.
func (x *exporter) cut(f *frame.Frame) error {
	var payload []byte
	count := uint32(0)
	err := x.dec.Lists(f.Payload, nil, func(list events.List) error {
		if list.Seq > x.to || x.show != nil && list.Seq <= x.after {
			return nil
		}
		if x.show != nil {
			list = x.show(list)
		}
		payload = codec.AppendList(payload, list)
		count++
		return nil
	})
	f.Payload, f.Count, f.Last = payload, count, min(f.Last, x.to)
	if x.show != nil && f.Flags&frame.TakeOver == 0 {
		f.First = max(f.First, x.after+1)
	}
	frame.Append(nil, f)
	if err == nil {
		err = x.w.Frame(f.Stream, f.Raw)
	}
	x.end = f.End()
	return err
}

// rewrite writes the frames with what others see of their lists, in a chain of
// its own.
func (x *exporter) rewrite(l *Log) error {
	err := l.frames(x.after+1, func(f frame.Frame) error {
		switch {
		case f.First > x.to:
			return errStopped
		case f.Last <= x.after:
			return nil
		}
		f.Flags &^= frame.More | frame.Rest
		if f.Stream, f.Prev, f.Before = x.end.Stream+1, x.end.Stream, x.end.Hash; f.Prev == 0 {
			f.Before = frame.Hash{}
		}
		ends := f.Last >= x.to
		if err := x.cut(&f); err != nil || !ends {
			return err
		}
		return errStopped
	})
	if err == errStopped {
		return nil
	}
	return err
}
