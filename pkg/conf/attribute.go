package conf

import (
	"reflect"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// attribute is one line of an object's text: a struct field with a conf tag.
type attribute struct {
	name  string
	empty string // what is printed when there is nothing: NONE, none, UNDEFINED
	sep   string // between the elements of a list
	// signed numbers may be negative.
	signed bool
	// optional ones may be missing in a file: they are then empty.
	optional bool
	value    reflect.Value
}

// attributes are the object's attributes in the order in which they are
// printed; their values can be set.
func attributes(o grid.Object) []attribute {
	v := reflect.ValueOf(o).Elem()
	t := v.Type()
	list := make([]attribute, 0, t.NumField())
	for i := range t.NumField() {
		tag, ok := t.Field(i).Tag.Lookup("conf")
		if !ok || tag == "-" {
			continue
		}
		words := strings.Split(tag, ",")
		a := attribute{name: words[0], empty: "NONE", sep: ",", value: v.Field(i)}
		for _, w := range words[1:] {
			switch w {
			case "space":
				a.sep = " "
			case "comma":
				a.sep = ","
			case "signed":
				a.signed = true
			case "optional":
				a.optional = true
			default:
				a.empty = w
			}
		}
		list = append(list, a)
	}
	return list
}

// find returns one attribute of an object.
func find(o grid.Object, name string) (attribute, bool) {
	for _, a := range attributes(o) {
		if a.name == name {
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
	for _, a := range attributes(spec.New()) {
		names = append(names, a.name)
	}
	return names
}
