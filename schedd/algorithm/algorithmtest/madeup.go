package algorithmtest

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/madeup"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/schedd/algorithm"
)

// MadeUp applies events that no correct history contains, as a qmaster of another version
// or with an error might send them: deletions of unknown objects, tasks without jobs,
// unknown requests. The laws:
//
//	the algorithm neither panics nor loops, nor does one that receives the final state, as
//	when it registers anew
//	the same events and the same run give the same orders
func MadeUp(t *testing.T, e algorithm.Entry, settings ...string) {
	testkit.EachSeed(t, 8, func(t *testing.T, seed uint64) {
		c, err := NewHarness(e)
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, c: c, r: rand.New(rand.NewPCG(seed, 5)), settings: settings}
		w.build()
		for range 12 {
			w.step()
			c.Follow(c.Decide(false))
		}
		for step := range 20 {
			c.Now = c.Now.Add(float64(w.r.IntN(90)))
			c.Apply(w.madeUp()...)
			list := c.Decide(step%3 == 0)
			if again := c.Decide(step%3 == 0); all(list) != all(again) {
				t.Fatalf("step %d: decided once\n%sand again\n%s", step, all(list), all(again))
			}
			if _, err := e.New(*c.State.SchedConf()); err == nil {
				w.fromFullState(step%3 == 0)
			}
			c.Follow(list)
		}
	})
}

// madeUp are some events as they come over the wire.
func (w *world) madeUp() []events.Event {
	l := events.List{Seq: 1}
	for range 1 + w.r.IntN(4) {
		l.Events = append(l.Events, w.madeUpEvent())
	}
	l, _, err := codec.DecodeList(codec.AppendList(nil, l)) // what cannot be read is left out
	if _, odd := err.(*codec.Unreadable); err != nil && !odd {
		w.t.Fatal(err)
	}
	return l.Events
}

func (w *world) madeUpEvent() events.Event {
	op := events.Op(1 + w.r.IntN(5))
	o := w.madeUpObject()
	switch w.r.IntN(5) {
	case 0:
		return events.Del(o.Kind(), o.Key())
	case 1: // what is not there
		return events.Del(o.Kind(), grid.Key{ID: o.Key().ID + uint32(w.r.IntN(3)), Sub: o.Key().Sub, Name: o.Key().Name +
			w.maker().Text()})
	case 2:
		return events.Event{Op: op, Kind: grid.Kind(w.r.IntN(60)), Key: o.Key(), Object: o}
	}
	return events.Event{Op: op, Kind: o.Kind(), Key: o.Key(), Object: o}
}

// madeUpObject is one that is there, but for a part of it, or a task of any job.
func (w *world) madeUpObject() grid.Object {
	if w.r.IntN(3) == 0 {
		t := &grid.JATask{Job: uint32(w.r.IntN(int(w.next) + 3)), ID: uint32(w.r.IntN(4)), Attempt: 1,
			Status: grid.Status(w.r.IntN(4)), Start: w.c.Now}
		for range w.r.IntN(3) {
			t.Grants = append(t.Grants, grid.Grant{Queue: w.pick("all.q", "dev.q", "no.q"), Host: w.pick("h0", "h1", "h99"),
				Slots: uint32(w.r.IntN(3))})
		}
		if w.r.IntN(3) == 0 {
			t.PE = w.pick("fill", "smp", "none")
		}
		if w.r.IntN(2) == 0 {
			w.maker().Some(t)
		}
		return t
	}
	var there []grid.Object
	kind := grid.Kinds[w.r.IntN(len(grid.Kinds))]
	w.c.State.Each(kind.Kind, func(o grid.Object) bool { there = append(there, o); return true })
	o := kind.New()
	if len(there) > 0 {
		reflect.ValueOf(o).Elem().Set(reflect.ValueOf(there[w.r.IntN(len(there))]).Elem())
	}
	if j, ok := o.(*grid.Job); ok {
		if j.Ask(); w.r.IntN(2) == 0 {
			w.next++
			j.ID = w.next
		}
	}
	w.maker().Some(o)
	return o
}

// maker makes parts of objects up.
func (w *world) maker() madeup.Maker {
	return madeup.Maker{Dice: w.r, Texts: []string{"", "1", "-1", "all.q", "all.q@h0", "h0", "*", "@all", "@", "[", "$",
		"a=b", "mem", "slots", "fill", "NONE", "INFINITY", "1e300", "0:0:1", "alice", "P", "x@y@z", "!a|b&c", "global"}}
}
