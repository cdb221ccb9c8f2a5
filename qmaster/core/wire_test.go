package core

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/madeup"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/qmaster/core/validate"
)

// What arrives as bytes, as a program of another version, with a bug, or of an
// attacker may send it, must not end qmaster: it is refused or does something.

// TestChangedMessages sends each type of message as it should be, and then with each
// of its values changed, to a cell in which jobs wait and run.
func TestChangedMessages(t *testing.T) {
	cell := busyCell(t)
	for name, b := range messages() {
		t.Run(name, func(t *testing.T) {
			if !play(t, cell, name, b) {
				t.Error("the message itself cannot be read")
			}
			madeup.Changes(b, func(what string, b []byte) {
				defer func() {
					if why := recover(); why != nil {
						t.Errorf("%s: %v", what, why)
					}
				}()
				play(t, cell, name, b)
			})
		})
	}
}

// FuzzMessages decodes bytes as each type of message and has the core decide on what
// can be read.
func FuzzMessages(f *testing.F) {
	cell := busyCell(f)
	for _, b := range messages() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, name := range []string{"request", "orders", "report"} {
			play(t, cell, name, b)
		}
	})
}

// play has a core decide on a message; false: it cannot be read. The state is that
// of cell before.
func play(t testing.TB, cell *state.State, name string, b []byte) bool {
	var in Input
	switch name {
	case "orders":
		l, err := codec.DecodeOrders(b)
		if err != nil {
			return false
		}
		l.Scheduler = "schedd"
		in = Orders{List: l}
	case "report":
		r, err := codec.DecodeReport(b)
		if err != nil {
			return false
		}
		r.Host = "h1"
		in = Report{Report: r}
	default:
		r, err := new(codec.Decoder).Request(b)
		if err != nil {
			return false
		}
		if r.Complete() != nil {
			return true
		}
		r.User, r.Group, r.Host = "root", "root", "m"
		in = UserRequest{Request: r}
	}
	c := New(cell.Copy(), 2, testAlgorithms...)
	c.On("m")
	now := grid.Time(1_700_000_100_000)
	c.Step(now, Scheduler{Name: "schedd"})
	for _, in := range []Input{in, Tick{}, in} {
		for _, a := range c.Step(now, in).Answers {
			switch {
			case a.Reply != nil:
				codec.AppendReply(nil, *a.Reply)
			case a.Result != nil:
				codec.AppendResult(nil, *a.Result)
			}
		}
		now = now.Add(1)
	}
	if in, ok := in.(UserRequest); ok {
		if get, ok := in.Body.(*gdi.Get); ok {
			Query(c.state, *get, func(o grid.Object) bool { return true })
		}
	}
	return true
}

// busyCell is the state of a cell in which job 1 is an array that waits, job 2 a
// parallel job that runs with a PE task, and job 3 a job that runs.
func busyCell(t testing.TB) *state.State {
	inner, ok := t.(*testing.T)
	if !ok {
		inner = new(testing.T) // of a fuzz target
	}
	h := &harness{t: inner, now: 1_700_000_000_000}
	run := func(cmd, input string, args ...datadriven.CmdArg) {
		if out := h.run(&datadriven.TestData{Cmd: cmd, Input: input, CmdArgs: args}); cmd == "orders" && out == "" {
			t.Fatal("the orders have started nothing")
		}
	}
	arg := func(key string, vals ...string) datadriven.CmdArg { return datadriven.CmdArg{Key: key, Vals: vals} }
	run("cell", "", arg("hosts", "h1", "h2"), arg("slots", "2"), arg("pe", "control_slaves"))
	run("submit", "", arg("t", "1-5"), arg("N", "array"), arg("p", "-5"))
	run("submit", "", arg("pe", "mpi", "2"))
	run("submit", "")
	run("orders", "start 2.1 all.q@h1=1 all.q@h2=1 pe=mpi\nstart 3.1 all.q@h1=1")
	run("report", "running 2.1.1\nrunning 3.1.1", arg("h1"))
	h.step(UserRequest{Request: gdi.Request{User: "alice", Group: "users", Host: "m",
		Body: &gdi.StartTask{Job: 2, Task: 1, Host: "h2", Launch: &grid.Launch{Args: []string{"x"}}}}})
	if h.core.state.Len(grid.KindPETask) != 1 {
		t.Fatal("no PE task was started")
	}
	return h.core.state.Copy()
}

// messages are all types of messages to qmaster, with something in every field.
func messages() map[string][]byte {
	out := map[string][]byte{}
	ask := func(name string, b gdi.Body) {
		out["request "+name] = codec.AppendRequest(nil, gdi.Request{ID: "x", Command: "c", Body: b})
	}
	for _, b := range gdi.Bodies() {
		full(reflect.ValueOf(b).Elem())
		switch b := b.(type) {
		case *gdi.Add: // a message for each object: each of its values is changed
			for _, o := range objects("new") {
				ask(b.Verb()+" "+o.Kind().String(), &gdi.Add{Objects: []grid.Object{o}})
			}
			continue
		case *gdi.Modify:
			for _, o := range objects("") {
				ask(b.Verb()+" "+o.Kind().String(), &gdi.Modify{Objects: []grid.Object{o}})
			}
			continue
		case *gdi.Change:
			b.Add, b.Modify = objects("new")[:6], objects("")[:12]
		case *gdi.Delete:
			b.Kind, b.Keys = grid.KindPE, []grid.Key{{Name: "mpi"}, {ID: 7, Sub: 1, Name: "x"}}
		case *gdi.Alter:
			for name := range validate.Attributes {
				b.Set = append(b.Set, name)
			}
			b.Jobs = gdi.Jobs{Refs: []gdi.JobRef{{ID: 1}, {Name: "*"}}}
		case *gdi.Get:
			for _, s := range grid.Kinds {
				b.Kinds = append(b.Kinds, s.Kind)
			}
		}
		ask(b.Verb(), b)
	}
	l := orders.List{Run: 1, Algorithm: "default"}
	for n := orders.Type(0); n < 255; n++ {
		if o := orders.New(n); o != nil {
			full(reflect.ValueOf(o).Elem())
			l.Orders = append(l.Orders, o)
		}
	}
	out["orders"] = codec.AppendOrders(nil, l)
	out["report"] = codec.AppendReport(nil,
		report.Report{Hello: true, Load: &report.Load{Values: grid.Values{{Name: "arch", Text: "x"}}, Processors: 4},
			Tasks: []report.Task{
				{Attempt: report.Attempt{Job: 3, Task: 1, N: 1}, Phase: report.Ended, Usage: grid.Usage{CPU: 1},
					Result: &report.Result{End: 7, Failed: 1, Text: "x"}},
				{Attempt: report.Attempt{Job: 2, Task: 1, N: 1}, Phase: report.Running, Usage: grid.Usage{CPU: 1}, Suspended: true},
				{Attempt: report.Attempt{Job: 2, Task: 1, N: 1, PETask: "1.h2"}, Phase: report.Ended, Result: &report.Result{}},
			}})
	return out
}

// objects are one of every kind; those of configuration are called so, or as one
// that the cell has.
func objects(name string) (out []grid.Object) {
	for _, s := range grid.Kinds {
		o := s.New()
		v := reflect.ValueOf(o).Elem()
		full(v)
		if f := v.FieldByName("Name"); f.IsValid() && f.Kind() == reflect.String {
			f.SetString(map[grid.Kind]string{grid.KindCQueue: "all.q", grid.KindHGroup: "@allhosts", grid.KindPE: "mpi",
				grid.KindConf: grid.GlobalConf, grid.KindExecHost: "h1", grid.KindCentry: "slots",
				grid.KindManager: "root"}[s.Kind])
			if name != "" {
				f.SetString(name)
			}
		}
		out = append(out, o)
	}
	return out
}

// full puts something into every field.
func full(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		full(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			full(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			full(v.Index(i))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Interface {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			full(v.Index(0))
		}
	case reflect.String:
		v.SetString("1")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1.5)
	}
}

// TestMadeUpMessages fills messages of each type at random, with pointers that may be
// nil, and sends several to a cell.
func TestMadeUpMessages(t *testing.T) {
	testkit.EachSeed(t, 10, func(t *testing.T, seed uint64) {
		cell := busyCell(t)
		m := newMadeUp(rand.New(rand.NewPCG(seed, 11)))
		m.Nil = true
		for _, b := range gdi.Bodies() {
			m.All(b)
			switch b := b.(type) {
			case *gdi.Add:
				b.Objects = objects(m.Text())
			case *gdi.Modify:
				b.Objects = objects("")
			case *gdi.Change:
				b.Add, b.Modify = objects(m.Text()), objects("")
			}
			name := fmt.Sprint(seed, " request ", b.Verb())
			if !play(t, cell, name, codec.AppendRequest(nil, gdi.Request{Body: b})) && seed == 0 {
				t.Log(name, "cannot be read")
			}
		}
		r := report.Report{}
		m.All(&r)
		play(t, cell, "report", codec.AppendReport(nil, r))
		l := orders.List{}
		for n := orders.Type(0); n < 255; n++ {
			if o := orders.New(n); o != nil {
				m.All(o)
				l.Orders = append(l.Orders, o)
			}
		}
		play(t, cell, "orders", codec.AppendOrders(nil, l))
	})
}
