package core

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/madeup"
	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/qmaster/core/authorize"
	"github.com/quill-grid/quill/qmaster/core/validate"
)

// TestMadeUpRequests makes requests that no client makes. They may be refused or
// do something; they do not end qmaster, nor keep it busy.
func TestMadeUpRequests(t *testing.T) {
	testkit.EachSeed(t, 3000, func(t *testing.T, seed uint64) {
		m := newMadeUp(rand.New(rand.NewPCG(seed, 7)))
		h := &harness{t: t, now: 1_700_000_000_000}
		h.cell(&datadriven.TestData{CmdArgs: []datadriven.CmdArg{{Key: "hosts", Vals: []string{"h1"}}}})
		for range 6 {
			user := []string{"root", "alice"}[m.Dice.IntN(2)]
			h.step(UserRequest{Request: gdi.Request{User: user, Group: "users", Host: "m", Command: "x", Body: m.body(h.core)}})
		}
	})
}

// madeUp makes things up.
type madeUp struct{ madeup.Maker }

func newMadeUp(dice *rand.Rand) madeUp {
	return madeUp{madeup.Maker{Dice: dice, Texts: []string{"", "1", "7.1", "1-", "-1", "10:0:0", "*", "[", "@", ":", "$",
		"=", "a=b", "x,y", "NONE", "alice", "h1", "mpi", "all.q", "all.q@h1", "@allhosts"}}}
}

func (m madeUp) body(c *Core) gdi.Body {
	switch m.Dice.IntN(5) {
	case 0, 1:
		return &gdi.Submit{Job: m.job()}
	case 2:
		names := slices.Sorted(maps.Keys(validate.Attributes))
		set := grid.Names{names[m.Dice.IntN(len(names))], names[m.Dice.IntN(len(names))]}
		return &gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 1}}}, Job: m.job(), Set: set}
	case 3: // an object that is there, in another way
		var all []grid.Object
		for _, k := range grid.Kinds {
			if authorize.IsConfigurable(k.Kind) {
				all = append(all, c.cell.All(k.Kind)...)
			}
		}
		old := reflect.ValueOf(all[m.Dice.IntN(len(all))]).Elem()
		o := reflect.New(old.Type())
		o.Elem().Set(old)
		m.Some(o.Interface())
		return &gdi.Modify{Objects: []grid.Object{o.Interface().(grid.Object)}}
	}
	bodies := []gdi.Body{&gdi.Resubmit{}, &gdi.Alter{Job: m.job()}, &gdi.DeleteJobs{}, &gdi.Control{}, &gdi.Trigger{},
		&gdi.Wait{}, &gdi.Reserve{}, &gdi.DeleteARs{}, &gdi.StartTask{}, &gdi.Delete{}}
	b := bodies[m.Dice.IntN(len(bodies))]
	if r, ok := b.(*gdi.Reserve); ok {
		r.AR = &grid.AR{Duration: 100}
		m.Some(r.AR)
		return r
	}
	m.Some(b)
	return b
}

// job is one that could be, but for a part of it.
func (m madeUp) job() *grid.Job {
	j := &grid.Job{JobRequest: &grid.JobRequest{}, Name: "n", Spec: &grid.JobSpec{Command: "c"},
		Tasks: grid.Range{First: 1, Last: 3, Step: 1}, Array: m.Dice.IntN(2) == 0}
	parts := []any{j, j.JobRequest, j.Spec}
	m.Some(parts[m.Dice.IntN(len(parts))])
	return j
}
