package attacker

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
)

// TestPlaces checks that each kind of request, and each kind of configuration object, has fields that are attacked,
// that each field is named once, and that a change reaches the field after the request has travelled.
func TestPlaces(t *testing.T) {
	f := &Field{Name: "mallory", Honest: "alice", Hosts: []string{"h1"}, Jobs: []uint32{1, 2}, Closed: []string{"/closed"},
		dice: rand.New(rand.NewPCG(1, 1)), env: opt.Env{Getenv: func(string) string { return "" }, Dir: "/"}}
	all, err := f.samples([]uint32{7, 8})
	if err != nil {
		t.Fatal(err)
	}
	attacked, kinds := map[string]bool{}, map[grid.Kind]bool{}
	var paths []string
	for _, s := range all {
		body := s.request.Body
		attacked[body.Verb()] = true
		if add, ok := body.(*gdi.Add); ok && len(add.Objects) == 1 {
			kinds[add.Objects[0].Kind()] = true
		}
		named := map[string]bool{}
		for _, p := range s.places {
			if named[p.path] {
				t.Errorf("%s is there twice", p.path)
			}
			named[p.path] = true
			paths = append(paths, p.path)
			f.checkPlace(t, s, p)
		}
	}
	for _, b := range gdi.Bodies() {
		if !attacked[b.Verb()] {
			t.Errorf("the request %s is not attacked", b.Verb())
		}
	}
	for _, k := range grid.Kinds {
		if k.Default != nil && !kinds[k.Kind] {
			t.Errorf("objects of kind %s are not attacked", k.Name)
		}
	}
	for _, path := range []string{"submit.request.ID", "submit.request.Command", "submit.Job.Spec.Env[].Name",
		"submit.Job.Hard", "alter.Job.Spec.Context[].Text", "add.CQUEUE.Notify.Value"} {
		if !slices.Contains(paths, path) {
			t.Errorf("%s is not attacked", path)
		}
	}
}

// checkPlace changes a field as each class does.
func (f *Field) checkPlace(t *testing.T, s *sample, p requestField) {
	var changes []func(reflect.Value)
	switch {
	case p.kind == reflect.String || p.bytes:
		changes = append(changes, lengthen(1000))
	case p.kind == reflect.Slice:
		changes = append(changes, multiply(1000))
	}
	for _, change := range changes {
		r, err := s.changed(p, change)
		if err != nil {
			t.Errorf("%s: %v", p.path, err)
			return
		}
		codec.AppendRequest(nil, r)
		if v := p.find(&r); v.Len() != 1000 && !(p.kind == reflect.Slice && v.Len() == 0) {
			t.Errorf("%s has a length of %d", p.path, v.Len())
		}
	}
}
