package codec_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/madeup"
	"github.com/quill-grid/quill/pkg/report"
)

func TestEveryKindKeepsEveryField(t *testing.T) {
	shared := new(codec.Decoder)
	for _, s := range grid.Kinds {
		for name, o := range map[string]grid.Object{"filled": filled(s), "empty": s.New()} {
			b := codec.AppendObject(nil, o)
			for i := range 3 {
				got, err := codec.DecodeObject(s.Kind, b)
				if i > 0 {
					got, err = shared.Object(s.Kind, b)
				}
				if err != nil {
					t.Errorf("%s %s: %v", name, s.Name, err)
				} else if d := cmp.Diff(o, got); d != "" {
					t.Errorf("%s %s: %s", name, s.Name, d)
				}
			}
		}
	}
}

func TestBriefLeavesOutTheSpecOnly(t *testing.T) {
	j := filled(*grid.SpecOf(grid.KindJob)).(*grid.Job)
	read := func(j *grid.Job) (*grid.Job, error) {
		l, _,
			err := codec.DecodeList(codec.AppendBriefList(nil, events.List{Seq: 1, Events: []events.Event{events.Listed(j)}}))
		if err != nil {
			return nil, err
		}
		return l.Events[0].Object.(*grid.Job), nil
	}
	got, err := read(j)
	if err != nil {
		t.Fatal(err)
	}
	want := *j
	want.Spec = &grid.JobSpec{Context: j.Spec.Context}
	if d := cmp.Diff(&want, got); d != "" {
		t.Error(d)
	}
	if j.Spec == nil || j.Spec.Command == "" {
		t.Error("writing changed the job")
	}
	without := *j
	without.Spec = &grid.JobSpec{Command: "x"}
	if got, err := read(&without); err != nil || got.Spec != nil {
		t.Error(got, err)
	}
}

// TestChangeLacksWhatItLeavesOut: an event that changes a job is read as it was written; a job in any other event has a
// request.
func TestChangeLacksWhatItLeavesOut(t *testing.T) {
	j := filled(*grid.SpecOf(grid.KindJob)).(*grid.Job)
	change := j.Change(j)
	for _, e := range []events.Event{events.Mod(change), events.Add(change)} {
		l, _, err := codec.DecodeList(codec.AppendList(nil, events.List{Seq: 1, Events: []events.Event{e}}))
		if err != nil {
			t.Fatal(err)
		}
		got := l.Events[0].Object.(*grid.Job)
		if got.Spec != nil || (got.JobRequest == nil) != (e.Op == events.OpMod) {
			t.Errorf("%s has the request %v and the spec %v", e, got.JobRequest, got.Spec)
		}
	}
}

// allKinds is a list with an event for each kind and each operation.
func allKinds() events.List {
	l := events.List{Seq: 7, At: 1700000000123, Cause: events.Cause{Who: "alice@h1", What: "qsub", Ref: "r1"}}
	for _, s := range grid.Kinds {
		o := filled(s)
		l.Events = append(l.Events, events.Add(o), events.Mod(o), events.Listed(o), events.Del(o.Kind(), o.Key()))
	}
	for _, k := range []grid.Key{{ID: 7}, {ID: 7, Sub: 3}, {ID: 7, Sub: 3, Name: "1.h1"}, {Name: "all.q@h1"}, {Name: ""}} {
		l.Events = append(l.Events, events.Del(grid.KindPETask, k))
	}
	return l
}

func TestListsFollowEachOther(t *testing.T) {
	lists := []events.List{allKinds(), {Seq: 8},
		{Seq: 9, Events: []events.Event{events.Del(grid.KindJob, grid.Key{ID: 1})}}}
	var b []byte
	for _, l := range lists {
		b = codec.AppendList(b, l)
	}
	d := new(codec.Decoder)
	for _, want := range lists {
		got, n, err := d.List(b)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		b = b[n:]
	}
	if len(b) != 0 {
		t.Errorf("%d bytes left", len(b))
	}
}

func TestUnreadableObjectIsSetAside(t *testing.T) {
	l := events.List{Seq: 5, Events: []events.Event{
		events.Add(&grid.Counter{Name: "first", Value: 1}),
		events.Add(&grid.Manager{Name: "MARK"}),
		{Op: events.OpMod, Kind: 99, Key: grid.Key{Name: "newer"}},
		events.Add(&grid.Counter{Name: "last", Value: 2}),
	}}
	b := codec.AppendList(nil, l)
	i := strings.LastIndex(string(b), "Name\xa4MARK")
	if i < 0 {
		t.Fatal("no manager in the bytes")
	}
	b[i-2] = 0xc1 // the map's code
	b = append(b, codec.AppendList(nil, events.List{Seq: 6})...)

	got, n, err := codec.DecodeList(b)
	var bad *codec.Unreadable
	if !errors.As(err, &bad) {
		t.Fatalf("error %v", err)
	}
	if len(got.Events) != 2 || got.Events[0].Key.Name != "first" || got.Events[1].Key.Name != "last" {
		t.Errorf("events %v", got.Events)
	}
	if got, want := err.Error(),
		"list 5: set aside MANAGER_ADD MARK (MANAGER object: 0xc1 begins no value) KIND99_MOD newer (has no object)"; got !=
		want {
		t.Errorf("error\n%s\nwant\n%s", got, want)
	}
	if next, _, err := codec.DecodeList(b[n:]); err != nil || next.Seq != 6 {
		t.Errorf("next list %v, %v", next, err)
	}
}

func TestEveryTruncationIsAnError(t *testing.T) {
	b := codec.AppendList(nil, events.List{Seq: 7, Events: []events.Event{
		events.Add(filled(*grid.SpecOf(grid.KindJob))), events.Mod(filled(*grid.SpecOf(grid.KindPE))),
	}})
	for n := range b {
		var bad *codec.Unreadable
		if _, _, err := codec.DecodeList(b[:n]); err == nil || errors.As(err, &bad) {
			t.Fatalf("%d of %d bytes: %v", n, len(b), err)
		}
	}
}

// messages is one of each message, every field filled.
func messages() map[string]message {
	var filler madeup.Filler
	full := filler.Fill
	m := map[string]message{}

	var l orders.List
	full(&l)
	for t := range orders.Type(255) {
		if o := orders.New(t); o != nil {
			full(o)
			l.Orders = append(l.Orders, o)
		}
	}
	m["orders"] = messageOf(l, codec.AppendOrders, codec.DecodeOrders)
	var r orders.Answer
	full(&r)
	m["result"] = messageOf(r, codec.AppendResult, codec.DecodeResult)
	m["record"] = messageOf(orders.Record{List: l, Result: r}, func(dst []byte, r orders.Record) []byte {
		return codec.AppendRecord(dst, codec.AppendOrders(nil, r.List), codec.AppendResult(nil, r.Result))
	}, codec.DecodeRecord)

	pe := filled(*grid.SpecOf(grid.KindPE))
	request := func(b gdi.Body) {
		var req gdi.Request
		full(&req)
		full(b)
		req.Body = b
		m["request-"+b.Verb()] = messageOf(req, codec.AppendRequest, new(codec.Decoder).Request)
	}
	for _, b := range []gdi.Body{&gdi.Add{Objects: []grid.Object{pe}}, &gdi.Modify{Objects: []grid.Object{pe}},
		&gdi.Delete{}, &gdi.Submit{},
		&gdi.Alter{}, &gdi.DeleteJobs{}, &gdi.Control{}, &gdi.Trigger{}, &gdi.Wait{}, &gdi.Get{}, &gdi.Verify{},
		&gdi.Reserve{}, &gdi.DeleteARs{}} {
		request(b)
	}
	m["request-none"] = messageOf(gdi.Request{ID: "x"}, codec.AppendRequest, new(codec.Decoder).Request)
	var rep gdi.Reply
	full(&rep)
	m["reply"] = messageOf(rep, codec.AppendReply, codec.DecodeReply)

	var up report.Report
	full(&up)
	m["report"] = messageOf(up, codec.AppendReport, codec.DecodeReport)
	var rec report.Receipt
	full(&rec)
	m["receipt"] = messageOf(rec, codec.AppendReceipt, codec.DecodeReceipt)
	var c report.Command
	full(&c)
	m["command"] = messageOf(c, codec.AppendCommand, codec.DecodeCommand)
	m["list"] = messageOf(allKinds(), codec.AppendList, func(b []byte) (events.List, error) {
		l, _, err := codec.DecodeList(b)
		return l, err
	})
	request(&gdi.History{}) // what is new comes last: each is filled with numbers of its own
	request(&gdi.StartTask{})
	request(&gdi.Resubmit{})
	request(&gdi.Output{})
	request(&gdi.Explain{})
	var r1 report.Read
	full(&r1)
	m["read"] = messageOf(r1, codec.AppendRead, codec.DecodeRead)
	var p report.Piece
	full(&p)
	m["piece"] = messageOf(p, codec.AppendPiece, codec.DecodePiece)
	return m
}

// message is a value, its bytes and how they are read.
type message struct {
	value  any
	bytes  []byte
	decode func([]byte) (any, error)
}

func messageOf[T any](v T, appendTo func([]byte, T) []byte, decode func([]byte) (T, error)) message {
	return message{v, appendTo(nil, v), func(b []byte) (any, error) { return decode(b) }}
}

// What is written is read only: objects are shared by those who write them. The
// race detector reports a violation.
func TestWritingOnlyReads(t *testing.T) {
	for _, s := range grid.Kinds {
		o := filled(s)
		var writing sync.WaitGroup
		var texts [2][]byte
		for i := range texts {
			writing.Go(func() { texts[i] = codec.AppendObject(nil, o) })
		}
		writing.Wait()
		if len(texts[0]) == 0 || !bytes.Equal(texts[0], texts[1]) {
			t.Errorf("%s: %x and %x", s.Name, texts[0], texts[1])
		}
	}
}

func TestEveryMessageKeepsEveryField(t *testing.T) {
	for name, m := range messages() {
		got, err := m.decode(m.bytes)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if d := cmp.Diff(m.value, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestListWriterCutsByBytes: objects with long texts of any kind travel in chunks that fit into a message.
func TestListWriterCutsByBytes(t *testing.T) {
	long := strings.Repeat("x", 700_000)
	for name, o := range map[string]grid.Object{
		"script":      &grid.Job{Spec: &grid.JobSpec{Script: []byte(long)}},
		"context":     &grid.Job{Spec: &grid.JobSpec{Context: grid.Values{{Name: "A", Text: long}}}},
		"environment": &grid.Job{Spec: &grid.JobSpec{Env: grid.Values{{Name: "A", Text: long}}}},
		"requests":    &grid.Job{JobRequest: &grid.JobRequest{HardQueues: grid.Names{long}}},
		"receipt":     &grid.Receipt{Reply: []byte(long)},
		"proposal":    &grid.Proposal{Changes: [][]byte{[]byte(long)}},
		"reservation": &grid.AR{ACL: grid.Names{long}},
		"PE task":     &grid.PETask{Launch: &grid.Launch{Args: []string{long}}},
	} {
		for _, brief := range []bool{false, true} {
			most := 0
			w := codec.ListWriter{Brief: brief, Send: func(chunk []byte) error {
				most = max(most, len(chunk))
				return nil
			}}
			for range 100 {
				w.Add(events.Listed(o))
			}
			if w.End() != nil || most > 2*codec.ChunkBytes+len(long) {
				t.Errorf("%s: a chunk of %d bytes", name, most)
			}
		}
	}
}
