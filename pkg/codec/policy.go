package codec

import "github.com/quill-grid/quill/pkg/grid"

func booking(w *wire, b *grid.Booking) {
	m := w.open()
	w.name(&b.User)
	w.name(&b.Project)
	amounts(w, &b.Decayed)
	amounts(w, &b.LongTerm)
	sig(w, &b.At)
	w.close(m)
}

func amounts(w *wire, a *grid.Amounts) {
	m := w.open()
	for i := range a {
		w.float(&a[i])
	}
	w.close(m)
}

func priority(w *wire, p *grid.Priority) {
	m := w.open()
	uns(w, &p.Job)
	w.float(&p.Priority)
	for _, f := range []*float32{&p.NPOSIX, &p.NUrgency, &p.NTickets, &p.Urgency, &p.RRContr, &p.WTContr, &p.DLContr,
		&p.Tickets, &p.OTickets, &p.FTickets, &p.STickets, &p.Share} {
		v := float64(*f)
		w.float(&v)
		if w.reading {
			*f = float32(v)
		}
	}
	w.close(m)
}

func priorityRange(w *wire, r *grid.PriorityRange) {
	m := w.open()
	sig(w, &r.At)
	for _, f := range []*float64{&r.LeastPriority, &r.MostPriority, &r.LeastUrgency, &r.MostUrgency, &r.MostTickets} {
		w.float(f)
	}
	w.close(m)
}

func algorithmState(w *wire, s *grid.AlgorithmState) {
	m := w.open()
	w.name(&s.Algorithm)
	w.text(&s.Name)
	values(w, &s.Values)
	w.close(m)
}
