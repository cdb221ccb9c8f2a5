package codec

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/wire"
)

func booking(w *wire.Coder, b *grid.Booking) {
	m := w.Open()
	name(w, &b.User)
	name(w, &b.Project)
	amounts(w, &b.Decayed)
	amounts(w, &b.LongTerm)
	wire.Sig(w, &b.At)
	w.Close(m)
}

func amounts(w *wire.Coder, a *grid.Amounts) {
	m := w.Open()
	for i := range a {
		w.Float(&a[i])
	}
	w.Close(m)
}

func priority(w *wire.Coder, p *grid.Priority) {
	m := w.Open()
	wire.Uns(w, &p.Job)
	w.Float(&p.Priority)
	for _, f := range []*float32{&p.NPOSIX, &p.NUrgency, &p.NTickets, &p.Urgency, &p.RRContr, &p.WTContr, &p.DLContr,
		&p.Tickets, &p.OTickets, &p.FTickets, &p.STickets, &p.Share} {
		v := float64(*f)
		w.Float(&v)
		if w.Reading() {
			*f = float32(v)
		}
	}
	w.Close(m)
}

func priorityRange(w *wire.Coder, r *grid.PriorityRange) {
	m := w.Open()
	wire.Sig(w, &r.At)
	for _, f := range []*float64{&r.LeastPriority, &r.MostPriority, &r.LeastUrgency, &r.MostUrgency, &r.MostTickets} {
		w.Float(f)
	}
	w.Close(m)
}

func jobReservation(w *wire.Coder, r *grid.JobReservation) {
	m := w.Open()
	wire.Uns(w, &r.Job)
	wire.Uns(w, &r.Task)
	wire.Sig(w, &r.Start)
	wire.Sig(w, &r.End)
	grants(w, &r.Grants)
	w.Text(&r.PE)
	wire.Sig(w, &r.At)
	wire.Uns(w, &r.Run)
	w.Close(m)
}

func algorithmState(w *wire.Coder, s *grid.AlgorithmState) {
	m := w.Open()
	name(w, &s.Algorithm)
	w.Text(&s.Name)
	values(w, &s.Values)
	w.Close(m)
}
