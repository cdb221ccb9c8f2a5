package codec

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/wire"
)

// The values that objects are made of. Those whose shape cannot change are
// flat: ranges, named values and counters of numbers.

func names(w *wire.Coder, p *grid.Names) {
	shared(w, p, func(d *Decoder) map[string]grid.Names { return d.lists }, name)
}

func namesList(w *wire.Coder, p *[]string) {
	wire.List(w, p, name)
}

func reasons(w *wire.Coder, p *[]reason.Reason) {
	wire.List(w, p, func(w *wire.Coder, r *reason.Reason) {
		m := w.Open()
		wire.Uns(w, &r.Code)
		name(w, &r.Object)
		name(w, &r.What)
		name(w, &r.Offer)
		wire.Sig(w, &r.Slots)
		w.Close(m)
	})
}

func ids(w *wire.Coder, p *[]uint32) { wire.List(w, p, wire.Uns[uint32]) }

func values(w *wire.Coder, p *grid.Values) {
	shared(w, p, func(d *Decoder) map[string]grid.Values { return d.values }, value)
}

func value(w *wire.Coder, v *grid.Value) {
	m := w.Open()
	name(w, &v.Name)
	name(w, &v.Text)
	w.Close(m)
}

// ownValues are values that differ from object to object: load values.
func ownValues(w *wire.Coder, p *grid.Values) {
	wire.List(w, p, func(w *wire.Coder, v *grid.Value) {
		m := w.Open()
		name(w, &v.Name)
		w.Text(&v.Text)
		w.Close(m)
	})
}

func ranges(w *wire.Coder, p *grid.Ranges) {
	shared(w, p, func(d *Decoder) map[string]grid.Ranges { return d.ranges }, rangeOf)
}

func rangeOf(w *wire.Coder, r *grid.Range) {
	m := w.Open()
	wire.Uns(w, &r.First)
	wire.Uns(w, &r.Last)
	wire.Uns(w, &r.Step)
	w.Close(m)
}

func requests(w *wire.Coder, p *grid.Requests) {
	shared(w, p, func(d *Decoder) map[string]grid.Requests { return d.requests }, func(w *wire.Coder, r *grid.Request) {
		m := w.Open()
		name(w, &r.Name)
		name(w, &r.Value)
		w.Float(&r.Num)
		w.Close(m)
	})
}

func grants(w *wire.Coder, p *[]grid.Grant) {
	wire.List(w, p, func(w *wire.Coder, g *grid.Grant) {
		m := w.Open()
		name(w, &g.Queue)
		name(w, &g.Host)
		wire.Uns(w, &g.Slots)
		w.Close(m)
	})
}

func usage(w *wire.Coder, u *grid.Usage) {
	m := w.Open()
	if w.Reading() || *u != (grid.Usage{}) {
		w.Float(&u.WallSeconds)
		w.Float(&u.UserSeconds)
		w.Float(&u.SystemSeconds)
		w.Float(&u.CPU)
		w.Float(&u.Mem)
		w.Float(&u.IO)
		w.Float(&u.IOWait)
		w.Float(&u.VMem)
		w.Float(&u.MaxVMem)
		w.Float(&u.MaxRSS)
		wire.Sig(w, &u.MinFaults)
		wire.Sig(w, &u.MajFaults)
		wire.Sig(w, &u.InBlocks)
		wire.Sig(w, &u.OutBlocks)
		wire.Sig(w, &u.VolSwitches)
		wire.Sig(w, &u.InvolSwitches)
		w.Float(&u.RSS)
		wire.Sig(w, &u.Processes)
	}
	w.Close(m)
}

// key is a number (jobs), a string (what has a name) or all three parts.
func key(w *wire.Coder, k *grid.Key) {
	if !w.Reading() {
		switch {
		case k.Sub == 0 && k.Name == "" && k.ID != 0:
			wire.Uns(w, &k.ID)
		case k.ID == 0 && k.Sub == 0:
			name(w, &k.Name)
		default:
			keyParts(w, k)
		}
		return
	}
	c, ok := w.Peek()
	switch {
	case !ok:
	case c <= 0x7f || c >= 0xcc && c <= 0xd3:
		wire.Uns(w, &k.ID)
	case c >= 0xa0 && c <= 0xbf || c >= 0xd9 && c <= 0xdb:
		name(w, &k.Name)
	default:
		keyParts(w, k)
	}
}

func keyParts(w *wire.Coder, k *grid.Key) {
	m := w.Open()
	wire.Uns(w, &k.ID)
	wire.Uns(w, &k.Sub)
	name(w, &k.Name)
	w.Close(m)
}
