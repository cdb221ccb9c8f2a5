package state_test

import (
	"reflect"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/madeup"
	"github.com/quill-grid/quill/pkg/state"
)

// TestDifference changes every value in an object of each kind, one at a time: each is a difference.
func TestDifference(t *testing.T) {
	kept := 0
	for _, s := range grid.Kinds {
		filled := func() grid.Object {
			o := s.New()
			new(madeup.Filler).Fill(o)
			return o
		}
		same := with(filled())
		if d := state.Difference(same, with(filled()), true); d != "" {
			t.Errorf("%s: %s", s.Name, d)
		}
		if same.Len(s.Kind) == 0 { // an event only
			continue
		}
		kept++
		changes := 0
		for ; ; changes++ {
			o, left := filled(), changes
			at, ok := change(reflect.ValueOf(o).Elem(), &left, s.Name)
			if !ok {
				break
			}
			if state.Difference(with(o), with(filled()), false) == "" {
				t.Errorf("a change of %s is no difference", at)
			}
		}
		if changes == 0 {
			t.Errorf("%s: nothing was changed", s.Name)
		}
	}
	if kept < len(grid.Kinds)/2 {
		t.Errorf("of %d kinds %d are kept", len(grid.Kinds), kept)
	}
}

func TestDifferenceOfLists(t *testing.T) {
	job := func(predecessors []uint32) *state.State {
		return with(&grid.Job{ID: 1, JobRequest: &grid.JobRequest{}, Spec: &grid.JobSpec{}, Predecessors: predecessors})
	}
	none, empty := job(nil), job([]uint32{})
	if d := state.Difference(none, empty, false); d != "" {
		t.Error(d)
	}
	if state.Difference(none, empty, true) == "" {
		t.Error("a nil and an empty list are exactly alike")
	}
}

// with is the state with one object.
func with(o grid.Object) *state.State {
	s := state.New()
	s.Apply(events.List{Seq: 1, Events: []events.Event{events.Listed(o)}})
	return s
}

// change makes the value before which there are so many others zero, and returns where it is.
func change(v reflect.Value, left *int, at string) (string, bool) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if where, ok := change(v.Field(i), left, at+"."+v.Type().Field(i).Name); ok {
				return where, true
			}
		}
		return "", false
	case reflect.Pointer:
		return change(v.Elem(), left, at)
	case reflect.Slice:
		for i := range v.Len() {
			if where, ok := change(v.Index(i), left, at); ok {
				return where, true
			}
		}
	}
	if *left--; *left >= 0 || v.IsZero() {
		return "", false
	}
	v.SetZero()
	return at, true
}
