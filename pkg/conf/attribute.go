package conf

import (
	"reflect"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Field is a struct field with a conf tag: an attribute of its kind.
type Field struct {
	Name  string // of the attribute
	Index int    // of the struct field
	// Factors marks lists of named values that are factors, not values of the attributes of the complex
	// that they name.
	Factors bool

	empty string // what is printed when there is nothing: NONE, none, UNDEFINED
	sep   string // between the elements of a list
	// signed numbers may be negative.
	signed bool
	// optional ones may be missing in a file: they are then empty.
	optional bool
}

// Fields returns the attributes of a struct in the order in which they are printed.
func Fields(t reflect.Type) []Field {
	var list []Field
	for i := range t.NumField() {
		tag, ok := t.Field(i).Tag.Lookup("conf")
		if !ok || tag == "-" {
			continue
		}
		words := strings.Split(tag, ",")
		f := Field{Name: words[0], Index: i, empty: "NONE", sep: ","}
		for _, w := range words[1:] {
			switch w {
			case "space":
				f.sep = " "
			case "comma":
				f.sep = ","
			case "signed":
				f.signed = true
			case "optional":
				f.optional = true
			case "factors":
				f.Factors = true
			default:
				f.empty = w
			}
		}
		list = append(list, f)
	}
	return list
}

// attribute is one line of an object's text.
type attribute struct {
	Field
	value reflect.Value
}

// attributesOf are the object's attributes in the order in which they are
// printed; their values can be set.
func attributesOf(o grid.Object) []attribute {
	v := reflect.ValueOf(o).Elem()
	fields := Fields(v.Type())
	list := make([]attribute, len(fields))
	for i, f := range fields {
		list[i] = attribute{f, v.Field(f.Index)}
	}
	return list
}

// findAttribute returns one attribute of an object.
func findAttribute(o grid.Object, name string) (attribute, bool) {
	for _, a := range attributesOf(o) {
		if a.Name == name {
			return a, true
		}
	}
	return attribute{}, false
}

// Attributes are the names of a kind's attributes in the order in which they
// are printed; none for kinds without text.
func Attributes(kind grid.Kind) []string {
	spec := grid.SpecOf(kind)
	if spec == nil {
		return nil
	}
	var names []string
	for _, a := range attributesOf(spec.New()) {
		names = append(names, a.Name)
	}
	return names
}
