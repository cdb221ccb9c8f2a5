package state

import (
	"fmt"
	"reflect"

	"github.com/quill-grid/quill/pkg/grid"
)

// Difference returns the first difference between two states, "" if there is none. Objects are compared field by field;
// unless exactly, lists that are nil and empty are alike: bytes do not distinguish them.
func Difference(got, want *State, exactly bool) string {
	if got.Seq != want.Seq || got.At != want.At {
		return fmt.Sprintf("list %d at %d, want %d at %d", got.Seq, got.At, want.Seq, want.At)
	}
	for _, spec := range grid.Kinds {
		if g, w := got.Len(spec.Kind), want.Len(spec.Kind); g != w {
			return fmt.Sprintf("list %d: %d objects of kind %s, want %d", want.Seq, g, spec.Name, w)
		}
		different := ""
		want.Each(spec.Kind, func(w grid.Object) bool {
			if g := got.Get(spec.Kind, w.Key()); g != w &&
				(g == nil || !alike(reflect.ValueOf(g), reflect.ValueOf(w), exactly)) {
				different = fmt.Sprintf("list %d: %s %s is\n%+v, want\n%+v", want.Seq, spec.Name, w.Key(), g, w)
			}
			return different == ""
		})
		if different != "" {
			return different
		}
	}
	return ""
}

// alike is reflect.DeepEqual for what objects consist of, without the memory that it takes.
func alike(a, b reflect.Value, exactly bool) bool {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if !alike(a.Field(i), b.Field(i), exactly) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Len() != b.Len() || exactly && a.IsNil() != b.IsNil() {
			return false
		}
		if a.Len() == 0 || a.UnsafePointer() == b.UnsafePointer() {
			return true
		}
		for i := range a.Len() {
			if !alike(a.Index(i), b.Index(i), exactly) {
				return false
			}
		}
		return true
	case reflect.Pointer:
		if a.UnsafePointer() == b.UnsafePointer() {
			return true
		}
		return !a.IsNil() && !b.IsNil() && alike(a.Elem(), b.Elem(), exactly)
	case reflect.String:
		return a.String() == b.String()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return a.Int() == b.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return a.Uint() == b.Uint()
	case reflect.Float64:
		return a.Float() == b.Float()
	case reflect.Bool:
		return a.Bool() == b.Bool()
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}
