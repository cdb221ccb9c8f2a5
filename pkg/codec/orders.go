package codec

import (
	"fmt"

	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/wire"
)

// message runs a layout over bytes that hold nothing else.
func message[T any](b []byte, d *Decoder, noun string, visit func(*wire.Coder, *T)) (v T, err error) {
	w := wire.Reader(b, d)
	w.LimitRoom()
	visit(&w, &v)
	if err := w.End(); err != nil {
		var none T
		return none, fmt.Errorf("%s: %w", noun, err)
	}
	return v, nil
}

func appended[T any](dst []byte, v *T, visit func(*wire.Coder, *T)) []byte {
	w := wire.Writer(dst, nil)
	visit(&w, v)
	return w.Bytes()
}

// AppendOrders appends an order list.
func AppendOrders(dst []byte, l orders.List) []byte { return appended(dst, &l, orderList) }

// DecodeOrders reads an order list. An order of an unknown type is an error of
// the whole list: its sender is newer than we are.
func DecodeOrders(b []byte) (orders.List, error) { return message(b, nil, "order list", orderList) }

// AppendOrder appends one order.
func AppendOrder(dst []byte, o orders.Order) []byte { return appended(dst, &o, order) }

// AppendResult appends the result of an order list.
func AppendResult(dst []byte, r orders.Answer) []byte { return appended(dst, &r, orderResult) }

// DecodeResult reads the result of an order list.
func DecodeResult(b []byte) (orders.Answer, error) {
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
	return message(b, nil, "record of orders", func(w *wire.Coder, r *orders.Record) {
		m := w.Open()
		orderList(w, &r.List)
		orderResult(w, &r.Result)
		w.Close(m)
	})
}

func orderList(w *wire.Coder, l *orders.List) {
	m := w.Open()
	wire.Uns(w, &l.Seq)
	w.Text(&l.Scheduler)
	w.Text(&l.Algorithm)
	wire.Uns(w, &l.Run)
	wire.List(w, &l.Orders, order)
	wire.Uns(w, &l.Epoch)
	wire.Uns(w, &l.Since)
	wire.Sig(w, &l.At)
	w.Bool(&l.Explain)
	wire.Uns(w, &l.Part)
	w.Bool(&l.Last)
	w.Close(m)
}

func orderResult(w *wire.Coder, r *orders.Answer) {
	m := w.Open()
	wire.Uns(w, &r.Seq)
	wire.List(w, &r.Refused, func(w *wire.Coder, f *orders.Refusal) {
		m := w.Open()
		wire.Sig(w, &f.Index)
		wire.Uns(w, &f.Code)
		w.Text(&f.Reason)
		w.Close(m)
	})
	w.Close(m)
}

// order is its type's number and its fields.
func order(w *wire.Coder, p *orders.Order) {
	m := w.Open()
	var t orders.Type
	if !w.Reading() {
		t = (*p).Type()
	}
	wire.Uns(w, &t)
	if w.Reading() {
		if *p = orders.New(t); *p == nil {
			w.Fail(fmt.Errorf("unknown order type %d", t))
			return
		}
	}
	f := w.Open()
	orderFields(w, *p)
	w.Close(f)
	w.Close(m)
}

func orderFields(w *wire.Coder, o orders.Order) {
	switch o := o.(type) {
	case *orders.StartJob:
		wire.Uns(w, &o.Job)
		wire.Uns(w, &o.Task)
		wire.Uns(w, &o.JobVersion)
		grants(w, &o.Grants)
		ids(w, &o.QueueVersions)
		w.Text(&o.PE)
		w.Float(&o.Priority)
		w.Float(&o.Tickets)
		wire.List(w, &o.States, algorithmState)
		requests(w, &o.Takes)
	case *orders.StoreState:
		wire.List(w, &o.States, algorithmState)
	case *orders.Tickets:
		tickets(w, o)
	case *orders.PTickets:
		tickets(w, (*orders.Tickets)(o))
	case *orders.RemoveImmediateJob:
		wire.Uns(w, &o.Job)
	case *orders.SchedConf:
		w.Float(&o.WeightTicketsOverride)
	case *orders.SuspendOnThreshold:
		wire.Uns(w, &o.Job)
		wire.Uns(w, &o.Task)
		w.Text(&o.Queue)
	case *orders.UnsuspendOnThreshold:
		wire.Uns(w, &o.Job)
		wire.Uns(w, &o.Task)
		w.Text(&o.Queue)
	case *orders.JobScheddInfo:
		jobScheddInfo(w, &o.Info)
	case *orders.JobReservation:
		wire.Uns(w, &o.Job)
		wire.Uns(w, &o.Task)
		wire.Uns(w, &o.JobVersion)
		wire.Sig(w, &o.Start)
		wire.Sig(w, &o.End)
		grants(w, &o.Grants)
		w.Text(&o.PE)
	case *orders.PriorityRange:
		priorityRange(w, &o.Range)
	case *orders.ClearPriInfo:
		wire.Uns(w, &o.Job)
		wire.Uns(w, &o.Task)
	case *orders.Preempt:
		wire.Uns(w, &o.Job)
		wire.Uns(w, &o.Task)
		w.Bool(&o.Suspend)
		wire.Uns(w, &o.For)
	case *orders.Unsuspend:
		wire.Uns(w, &o.Job)
		wire.Uns(w, &o.Task)
	default:
		panic(fmt.Sprintf("codec: no layout for order %T", o))
	}
}

func tickets(w *wire.Coder, o *orders.Tickets) {
	wire.Uns(w, &o.Job)
	wire.Uns(w, &o.Task)
	for _, f := range []*float64{&o.Tickets, &o.OTickets, &o.FTickets, &o.STickets, &o.Share, &o.Priority, &o.NTickets,
		&o.NPOSIX, &o.NUrgency, &o.Urgency, &o.RRContr, &o.DLContr, &o.WTContr} {
		w.Float(f)
	}
}
