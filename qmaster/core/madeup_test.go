package core

import (
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// TestMadeUpRequests makes requests that no client makes. They may be refused or
// do something; they do not end qmaster, nor keep it busy.
func TestMadeUpRequests(t *testing.T) {
	for seed := range uint64(3000) {
		m := madeUp{rand.New(rand.NewPCG(seed, 7))}
		h := &harness{t: t, now: 1_700_000_000_000}
		h.cell(&datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "hosts", Vals: []string{"h1"}}}})
		for range 6 {
			user := []string{"root", "alice"}[m.dice.IntN(2)]
			h.step(Request{Request: gdi.Request{User: user, Group: "users", Host: "m", Command: "x", Body: m.body(h.core)}})
		}
	}
}

// madeUp makes things up.
type madeUp struct{ dice *rand.Rand }

func (m madeUp) body(c *Core) gdi.Body {
	switch m.dice.IntN(5) {
	case 0, 1:
		return &gdi.Submit{Job: m.job()}
	case 2:
		names := slices.Sorted(maps.Keys(attributes))
		set := grid.Names{names[m.dice.IntN(len(names))], names[m.dice.IntN(len(names))]}
		return &gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 1}}}, Job: m.job(), Set: set}
	case 3: // an object that is there, in another way
		var all []grid.Object
		for _, k := range grid.Kinds {
			if rulesOf(k.Kind) != nil {
				all = append(all, c.all(k.Kind)...)
			}
		}
		old := reflect.ValueOf(all[m.dice.IntN(len(all))]).Elem()
		o := reflect.New(old.Type())
		o.Elem().Set(old)
		m.some(o.Elem())
		return &gdi.Modify{Objects: []grid.Object{o.Interface().(grid.Object)}}
	}
	bodies := []gdi.Body{&gdi.Alter{Job: m.job()}, &gdi.DeleteJobs{}, &gdi.Control{}, &gdi.Trigger{}, &gdi.Wait{}, &gdi.Reserve{}, &gdi.DeleteARs{}, &gdi.StartTask{}, &gdi.Delete{}}
	b := bodies[m.dice.IntN(len(bodies))]
	if r, ok := b.(*gdi.Reserve); ok {
		r.AR = &grid.AR{Duration: 100}
		m.some(reflect.ValueOf(r.AR).Elem())
		return r
	}
	m.some(reflect.ValueOf(b).Elem())
	return b
}

// job is one that could be, but for a part of it.
func (m madeUp) job() *grid.Job {
	j := &grid.Job{JobRequest: &grid.JobRequest{}, Name: "n", Spec: &grid.JobSpec{Command: "c"}, Tasks: grid.Range{First: 1, Last: 3, Step: 1}, Array: m.dice.IntN(2) == 0}
	parts := []any{j, j.JobRequest, j.Spec}
	m.some(reflect.ValueOf(parts[m.dice.IntN(len(parts))]).Elem())
	return j
}

// some fills a field or two of a struct.
func (m madeUp) some(v reflect.Value) {
	for range 1 + m.dice.IntN(2) {
		if f := v.Field(m.dice.IntN(v.NumField())); f.Kind() != reflect.Pointer {
			m.fill(f)
		}
	}
}

func (m madeUp) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		m.fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			m.fill(v.Field(i))
		}
	case reflect.Slice:
		n := m.dice.IntN(3)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			m.fill(v.Index(i))
		}
	case reflect.String:
		texts := []string{"", "1", "7.1", "1-", "-1", "10:0:0", "*", "[", "@", ":", "$", "=", "a=b", "x,y", "NONE", "alice", "h1", "mpi", "all.q", "all.q@h1", "@allhosts"}
		v.SetString(texts[m.dice.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(m.dice.IntN(2) == 0)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint([]uint64{0, 1, 2, 7, math.MaxUint32}[m.dice.IntN(5)])
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt([]int64{0, 1, -1, 7, math.MaxInt64, math.MinInt64}[m.dice.IntN(6)])
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, 1, -1, 0.5, 1e300, math.NaN(), math.Inf(1), math.Inf(-1)}[m.dice.IntN(8)])
	}
}
