package codec

import (
	"time"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/wire"
)

// explanation is why tasks wait.
func explanation(w *wire.Coder, x *gdi.Explanation) {
	m := w.Open()
	wire.Sig(w, &x.At)
	wire.Opt(w, &x.Outlook, outlook)
	wire.List(w, &x.Groups, waitGroup)
	w.Close(m)
}

func outlook(w *wire.Coder, o *gdi.Outlook) {
	m := w.Open()
	w.Text(&o.Answer)
	wire.List(w, &o.Obstacles, waitReason)
	wire.List(w, &o.Alternatives, func(w *wire.Coder, a *gdi.Alternative) {
		m := w.Open()
		w.Text(&a.Text)
		w.Text(&a.Command)
		name(w, &a.By)
		w.Close(m)
	})
	w.Bool(&o.Fits)
	wire.List(w, &o.Closest, func(w *wire.Coder, n *gdi.NearPlace) {
		m := w.Open()
		w.Text(&n.Instance)
		wire.List(w, &n.Lacks, func(w *wire.Coder, text *string) { w.Text(text) })
		w.Close(m)
	})
	wire.Sig(w, &o.Places)
	wire.List(w, &o.Before, func(w *wire.Coder, r *gdi.Rival) {
		m := w.Open()
		wire.Uns(w, &r.Job)
		wire.Uns(w, &r.Task)
		name(w, &r.Owner)
		w.Float(&r.Priority)
		w.Text(&r.Fate)
		w.Close(m)
	})
	wire.Sig(w, &o.More)
	wire.Opt(w, &o.Earliest, start)
	wire.Opt(w, &o.Alone, start)
	w.Text(&o.Never)
	w.Close(m)
}

func waitReason(w *wire.Coder, r *gdi.WaitReason) {
	m := w.Open()
	name(w, &r.Code)
	name(w, (*string)(&r.Kind))
	name(w, &r.Slurm)
	w.Text(&r.Text)
	w.Text(&r.Remedy)
	name(w, &r.By)
	wire.List(w, &r.Jobs, wire.Uns[uint32])
	wire.Sig(w, &r.More)
	w.Close(m)
}

func waitGroup(w *wire.Coder, g *gdi.WaitGroup) {
	m := w.Open()
	name(w, (*string)(&g.Kind))
	name(w, &g.Code)
	w.Text(&g.Text)
	wire.Sig(w, &g.Tasks)
	wire.List(w, &g.Jobs, wire.Uns[uint32])
	wire.Sig(w, &g.More)
	w.Close(m)
}

// start is a start that is foreseen, at a time in nanoseconds since 1970.
func start(w *wire.Coder, s *gdi.Start) {
	m := w.Open()
	at := s.Time.UnixNano()
	if wire.Sig(w, &at); w.Reading() {
		s.Time = time.Unix(0, at)
	}
	w.Float(&s.In)
	w.Text(&s.Where)
	w.Close(m)
}
