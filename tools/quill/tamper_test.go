package main

import (
	"context"
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
)

// tamper is the command "tamper orders|config DIR FILE": the log of a stopped
// cell, exported with one start at another priority or slots that queues never had.
func tamper(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: tamper orders|config DIR FILE")
	}
	log, err := history.Open(context.Background(), history.Source{Dir: ts.MkAbs(args[1])})
	ts.Check(err)
	defer log.Close()
	out, err := os.Create(ts.MkAbs(args[2]))
	ts.Check(err)
	defer out.Close()
	var e history.Export
	if args[0] == "orders" {
		done := false
		e.Run = func(r orders.Record) (orders.Record, bool) {
			for i, o := range r.List.Orders {
				if s, ok := o.(*orders.StartJob); ok && !done {
					forged := *s
					forged.Priority, done = s.Priority+0.125, true
					r.List.Orders[i] = &forged
				}
			}
			return r, true
		}
	} else {
		e.Show = func(l events.List) events.List {
			for i, ev := range l.Events {
				if q, ok := ev.Object.(*grid.CQueue); ok {
					changed := *q
					changed.Slots.Value, changed.Slots.At = 0, nil
					l.Events[i].Object = &changed
				}
			}
			return l
		}
	}
	ts.Check(log.Export(out, e))
}
