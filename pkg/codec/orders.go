package codec

import (
	"fmt"

	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"github.com/quill-grid/quill/orders"
)

// message runs a layout over bytes that hold nothing else.
func message[T any](b []byte, d *Decoder, noun string, visit func(*wire, *T)) (v T, err error) {
	w := reader(b, d)
	w.room = min(w.room, roomMost)
	visit(&w, &v)
	if w.err == nil && w.at != len(b) {
		w.err = errExtra
	}
	if w.err != nil {
		var none T
		return none, fmt.Errorf("%s: %w", noun, w.err)
	}
	return v, nil
}

func appended[T any](dst []byte, v *T, visit func(*wire, *T)) []byte {
	w := wire{b: dst}
	visit(&w, v)
	return w.b
}

// AppendOrders appends an order list.
func AppendOrders(dst []byte, l orders.List) []byte { return appended(dst, &l, orderList) }

// DecodeOrders reads an order list. An order of an unknown type is an error of
// the whole list: its sender is newer than we are.
func DecodeOrders(b []byte) (orders.List, error) { return message(b, nil, "order list", orderList) }

// AppendOrder appends one order.
func AppendOrder(dst []byte, o orders.Order) []byte { return appended(dst, &o, order) }

// AppendResult appends the result of an order list.
func AppendResult(dst []byte, r orders.Result) []byte { return appended(dst, &r, orderResult) }

// DecodeResult reads the result of an order list.
func DecodeResult(b []byte) (orders.Result, error) {
	return message(b, nil, "order result", orderResult)
}

// AppendRecord appends the record of an order list and its result, both as
// bytes.
func AppendRecord(dst, list, result []byte) []byte {
	dst = append(dst, msgpcode.FixedArrayLow|2)
	return append(append(dst, list...), result...)
}

// DecodeRecord reads the record of an order list.
func DecodeRecord(b []byte) (orders.Record, error) {
	return message(b, nil, "record of orders", func(w *wire, r *orders.Record) {
		m := w.open()
		orderList(w, &r.List)
		orderResult(w, &r.Result)
		w.close(m)
	})
}

func orderList(w *wire, l *orders.List) {
	m := w.open()
	uns(w, &l.Seq)
	w.text(&l.Scheduler)
	w.text(&l.Algorithm)
	uns(w, &l.Run)
	list(w, &l.Orders, order)
	uns(w, &l.Epoch)
	uns(w, &l.Since)
	sig(w, &l.At)
	w.bool(&l.Explain)
	uns(w, &l.Part)
	w.bool(&l.Last)
	w.close(m)
}

func orderResult(w *wire, r *orders.Result) {
	m := w.open()
	uns(w, &r.Seq)
	list(w, &r.Refused, func(w *wire, f *orders.Refusal) {
		m := w.open()
		sig(w, &f.Index)
		uns(w, &f.Code)
		w.text(&f.Reason)
		w.close(m)
	})
	w.close(m)
}

// order is its type's number and its fields.
func order(w *wire, p *orders.Order) {
	m := w.open()
	var t orders.Type
	if !w.reading {
		t = (*p).Type()
	}
	uns(w, &t)
	if w.reading {
		if *p = orders.New(t); *p == nil {
			w.fail(fmt.Errorf("unknown order type %d", t))
			return
		}
	}
	f := w.open()
	orderFields(w, *p)
	w.close(f)
	w.close(m)
}

func orderFields(w *wire, o orders.Order) {
	switch o := o.(type) {
	case *orders.StartJob:
		uns(w, &o.Job)
		uns(w, &o.Task)
		uns(w, &o.JobVersion)
		grants(w, &o.Grants)
		ids(w, &o.QueueVersions)
		w.text(&o.PE)
		w.float(&o.Priority)
		w.float(&o.Tickets)
		list(w, &o.Remember, algorithmState)
	case *orders.Remember:
		list(w, &o.States, algorithmState)
	case *orders.Tickets:
		uns(w, &o.Job)
		uns(w, &o.Task)
		for _, f := range []*float64{&o.Tickets, &o.OTickets, &o.FTickets, &o.STickets, &o.Share, &o.Priority, &o.NTickets,
			&o.NPOSIX, &o.NUrgency, &o.Urgency, &o.RRContr, &o.DLContr, &o.WTContr} {
			w.float(f)
		}
	case *orders.PTickets:
		uns(w, &o.Job)
		uns(w, &o.Task)
		for _, f := range []*float64{&o.Tickets, &o.OTickets, &o.FTickets, &o.STickets, &o.Share, &o.Priority, &o.NTickets,
			&o.NPOSIX, &o.NUrgency, &o.Urgency, &o.RRContr, &o.DLContr, &o.WTContr} {
			w.float(f)
		}
	case *orders.RemoveImmediateJob:
		uns(w, &o.Job)
	case *orders.SchedConf:
		w.float(&o.WeightTicketsOverride)
	case *orders.SuspendOnThreshold:
		uns(w, &o.Job)
		uns(w, &o.Task)
		w.text(&o.Queue)
	case *orders.UnsuspendOnThreshold:
		uns(w, &o.Job)
		uns(w, &o.Task)
		w.text(&o.Queue)
	case *orders.JobScheddInfo:
		jobScheddInfo(w, &o.Info)
	case *orders.PriorityRange:
		priorityRange(w, &o.Range)
	case *orders.ClearPriInfo:
		uns(w, &o.Job)
		uns(w, &o.Task)
	case *orders.Preempt:
		uns(w, &o.Job)
		uns(w, &o.Task)
		w.bool(&o.Suspend)
		uns(w, &o.For)
	case *orders.Unsuspend:
		uns(w, &o.Job)
		uns(w, &o.Task)
	default:
		panic(fmt.Sprintf("codec: no layout for order %T", o))
	}
}
