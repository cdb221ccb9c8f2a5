package attacker

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// requestField is a field of a request: where it is below gdi.Request, and what it can hold.
type requestField struct {
	path  string // as "alter.Job.Spec.Cwd"
	steps []int  // fields of structs, and 0 for the first element of a list
	kind  reflect.Kind
	bytes bool // a list of bytes
}

// sample is a request that qmaster understands, and its fields.
type sample struct {
	request gdi.Request
	places  []requestField
}

// depthMax bounds the fields of fields; configuration objects are trees.
const depthMax = 7

// placesOf returns the fields of a request, with those of absent objects and of empty lists.
func placesOf(r *gdi.Request) (all []requestField) {
	walk(reflect.ValueOf(r).Elem(), nil, nil, func(p requestField) { all = append(all, p) })
	verb := r.Body.Verb()
	for i := range all {
		path := strings.TrimPrefix(all[i].path, "Body.")
		if path == all[i].path {
			path = "request." + path // of every request
		}
		all[i].path = verb + "." + path
	}
	return all
}

func walk(v reflect.Value, names []string, steps []int, each func(requestField)) {
	if len(steps) > 2*depthMax || len(names) > depthMax {
		return
	}
	at := requestField{path: strings.Join(names, "."), steps: steps, kind: v.Kind()}
	with := func(step int) []int { return append(append([]int(nil), steps...), step) }
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v = reflect.New(v.Type().Elem())
		}
		walk(v.Elem(), names, steps, each)
	case reflect.Interface:
		if !v.IsNil() {
			walk(v.Elem(), names, steps, each)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				below := append(append([]string(nil), names...), f.Name)
				if f.Anonymous {
					below = names
				}
				walk(v.Field(i), below, with(i), each)
			}
		}
	case reflect.Slice:
		if at.bytes = v.Type().Elem().Kind() == reflect.Uint8; at.bytes {
			each(at)
			return
		}
		each(at)
		first := reflect.New(v.Type().Elem()).Elem()
		if v.Len() > 0 {
			first = v.Index(0)
		}
		if len(names) > 0 {
			names = append(slices.Clone(names[:len(names)-1]), names[len(names)-1]+"[]")
		}
		walk(first, names, with(0), each)
	case reflect.Array, reflect.Map, reflect.Func, reflect.Chan:
	default:
		each(at)
	}
}

// find returns the field of a request, and makes what is absent on the way.
func (p requestField) find(r *gdi.Request) reflect.Value {
	v := reflect.ValueOf(r).Elem()
	for _, step := range p.steps {
		v = p.open(v)
		if v.Kind() == reflect.Struct {
			v = v.Field(step)
			continue
		}
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		v = v.Index(0)
	}
	return p.open(v)
}

func (p requestField) open(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.Kind() == reflect.Pointer && v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	return v
}

// copyOf returns a request that shares nothing with another.
func copyOf(r gdi.Request) (gdi.Request, error) {
	return new(codec.Decoder).Request(codec.AppendRequest(nil, r))
}

// changed returns a copy of a request in which one field is changed.
func (s *sample) changed(p requestField, change func(reflect.Value)) (r gdi.Request, err error) {
	if r, err = copyOf(s.request); err != nil {
		return r, err
	}
	change(p.find(&r))
	return r, nil
}

// lengthen makes a text or bytes as long as n, others each time: what is the same is stored once.
func lengthen(n int) func(reflect.Value) {
	return func(v reflect.Value) {
		own := rand.Text()
		text := strings.Repeat("x", n-len(own)) + own
		if v.Kind() == reflect.String {
			v.SetString(text)
			return
		}
		v.SetBytes([]byte(text))
	}
}

// multiply gives a list n elements like its first, with texts and numbers of their own, others each time. A list of
// objects without a first one stays as it is.
func multiply(n int) func(reflect.Value) {
	return func(v reflect.Value) {
		of := v.Type().Elem().Kind()
		objects := of == reflect.Interface || of == reflect.Pointer
		if objects && v.Len() == 0 {
			return
		}
		list, from := reflect.MakeSlice(v.Type(), n, n), mathrand.IntN(1<<30)
		for i := range n {
			if v.Len() > 0 {
				list.Index(i).Set(v.Index(0))
			}
			if !objects {
				number(list.Index(i), from+i)
			}
		}
		v.Set(list)
	}
}

// number gives the first text or number of a value a value of its own.
func number(v reflect.Value, i int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%s%d", v.String(), i))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(i + 1))
	case reflect.Struct:
		if v.NumField() > 0 && v.Type().Field(0).IsExported() {
			number(v.Field(0), i)
		}
	}
}

// samples are requests of each kind, about the attacker's own jobs, and those of
// configuration objects of each kind.
func (f *Field) samples(own []uint32) (all []*sample, err error) {
	bodies, err := f.bodies(own[0], f.Name)
	if err != nil {
		return nil, err
	}
	for _, b := range bodies {
		if d, ok := b.(*gdi.DeleteJobs); ok { // the others need theirs
			d.Jobs.Refs[0].ID = own[len(own)-1]
		}
	}
	known := map[string]bool{}
	for _, b := range bodies {
		known[b.Verb()] = true
	}
	for _, b := range gdi.Bodies() {
		if !known[b.Verb()] {
			bodies = append(bodies, b)
		}
	}
	for _, k := range grid.Kinds {
		if o := grid.Default(k.Kind, "attack"); o != nil {
			bodies = append(bodies, &gdi.Add{Objects: []grid.Object{o}})
		}
	}
	for _, b := range bodies {
		s := &sample{request: gdi.Request{ID: "attack", User: f.Name, Group: "users", Host: f.Hosts[0],
			Command: "qsub", Body: b}}
		if s.request, err = copyOf(s.request); err != nil {
			return nil, fmt.Errorf("%s: %w", b.Verb(), err)
		}
		s.places = placesOf(&s.request)
		if add, ok := b.(*gdi.Add); ok && len(add.Objects) == 1 {
			for i := range s.places {
				s.places[i].path = strings.Replace(s.places[i].path, "add.Objects[]", "add."+add.Objects[0].Kind().String(), 1)
			}
		}
		all = append(all, s)
	}
	return all, nil
}
