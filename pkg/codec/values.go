package codec

import "github.com/quill-grid/quill/pkg/grid"

// The values that objects are made of. Those whose shape cannot change are
// flat: ranges, named values and counters of numbers.

func names(w *wire, p *grid.Names) {
	shared(w, p, func(d *Decoder) map[string]grid.Names { return d.lists }, (*wire).name)
}

func namesList(w *wire, p *[]string) {
	list(w, p, (*wire).name)
}

func ids(w *wire, p *[]uint32) { list(w, p, uns[uint32]) }

func values(w *wire, p *grid.Values) {
	shared(w, p, func(d *Decoder) map[string]grid.Values { return d.values }, value)
}

func value(w *wire, v *grid.Value) {
	m := w.open()
	w.name(&v.Name)
	w.name(&v.Text)
	w.close(m)
}

// ownValues are values that differ from object to object: load values.
func ownValues(w *wire, p *grid.Values) {
	list(w, p, func(w *wire, v *grid.Value) {
		m := w.open()
		w.name(&v.Name)
		w.text(&v.Text)
		w.close(m)
	})
}

func ranges(w *wire, p *grid.Ranges) {
	shared(w, p, func(d *Decoder) map[string]grid.Ranges { return d.ranges }, rangeOf)
}

func rangeOf(w *wire, r *grid.Range) {
	m := w.open()
	uns(w, &r.First)
	uns(w, &r.Last)
	uns(w, &r.Step)
	w.close(m)
}

func requests(w *wire, p *grid.Requests) {
	shared(w, p, func(d *Decoder) map[string]grid.Requests { return d.requests }, func(w *wire, r *grid.Request) {
		m := w.open()
		w.name(&r.Name)
		w.name(&r.Value)
		w.float(&r.Num)
		w.close(m)
	})
}

func grants(w *wire, p *[]grid.Grant) {
	list(w, p, func(w *wire, g *grid.Grant) {
		m := w.open()
		w.name(&g.Queue)
		w.name(&g.Host)
		uns(w, &g.Slots)
		w.close(m)
	})
}

func usage(w *wire, u *grid.Usage) {
	m := w.open()
	if w.reading || *u != (grid.Usage{}) {
		w.float(&u.WallSeconds)
		w.float(&u.UserSeconds)
		w.float(&u.SystemSeconds)
		w.float(&u.CPU)
		w.float(&u.Mem)
		w.float(&u.IO)
		w.float(&u.IOWait)
		w.float(&u.VMem)
		w.float(&u.MaxVMem)
		w.float(&u.MaxRSS)
		sig(w, &u.MinFaults)
		sig(w, &u.MajFaults)
		sig(w, &u.InBlocks)
		sig(w, &u.OutBlocks)
		sig(w, &u.VolSwitches)
		sig(w, &u.InvolSwitches)
	}
	w.close(m)
}

// key is a number (jobs), a string (what has a name) or all three parts.
func key(w *wire, k *grid.Key) {
	if !w.reading {
		switch {
		case k.Sub == 0 && k.Name == "" && k.ID != 0:
			uns(w, &k.ID)
		case k.ID == 0 && k.Sub == 0:
			w.name(&k.Name)
		default:
			keyParts(w, k)
		}
		return
	}
	if w.fields == 0 || w.err != nil || w.at >= len(w.b) {
		return
	}
	switch c := w.b[w.at]; {
	case c <= 0x7f || c >= 0xcc && c <= 0xd3:
		uns(w, &k.ID)
	case c >= 0xa0 && c <= 0xbf || c >= 0xd9 && c <= 0xdb:
		w.name(&k.Name)
	default:
		keyParts(w, k)
	}
}

func keyParts(w *wire, k *grid.Key) {
	m := w.open()
	uns(w, &k.ID)
	uns(w, &k.Sub)
	w.name(&k.Name)
	w.close(m)
}
