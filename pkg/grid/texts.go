package grid

import (
	"reflect"
	"slices"
)

// TextRule is what a text of a request or a report may have.
type TextRule uint8

const (
	TextLine      TextRule = iota // no control character: names, paths, values. All texts for which nothing else is said
	TextFree                      // any character, as arguments of a command have
	TextVariables                 // of a list of Values: names of environment variables, with any text
	TextVariable                  // a name in such a list
)

// Texts finds the texts of values of some types, with what each may have. It does not change after it was made.
type Texts map[reflect.Type][]textField

// textField is a field of a struct that is a text, or has texts below it.
type textField struct {
	index int
	name  string // JobSpec.Cwd
	rule  TextRule
}

// NewTexts returns the Texts of the types of some pointers to structs. The rules of fields, named as JobSpec.Args, are
// those of what is below them, too.
func NewTexts(rules map[string]TextRule, pointers ...any) Texts {
	t := Texts{}
	for _, p := range pointers {
		t.add(reflect.TypeOf(p).Elem(), rules)
	}
	return t
}

// add prepares a type, and reports whether there may be texts in it.
func (t Texts) add(of reflect.Type, rules map[string]TextRule) bool {
	switch of.Kind() {
	case reflect.String, reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return t.add(of.Elem(), rules)
	case reflect.Struct:
		if fields, known := t[of]; known {
			return fields == nil || len(fields) > 0 // nil: a type that has itself below it
		}
		t[of] = nil
		fields := []textField{}
		for i := range of.NumField() {
			f := of.Field(i)
			if name := of.Name() + "." + f.Name; t.add(f.Type, rules) {
				fields = append(fields, textField{i, name, rules[name]})
			}
		}
		t[of] = fields
		return len(fields) > 0
	}
	return false
}

// Each calls do with each text below a pointer to a struct of one of the types, with the name of the field that it is
// in and what it may have. What do returns takes its place.
func (t Texts) Each(pointer any, do func(field string, rule TextRule, text string) string) {
	t.each(reflect.ValueOf(pointer).Elem(), "", TextLine, do)
}

func (t Texts) each(
	v reflect.Value, field string, rule TextRule, do func(field string, rule TextRule, text string) string,
) {
	switch v.Kind() {
	case reflect.String:
		if is := v.String(); is != "" || rule == TextVariable {
			if text := do(field, rule, is); text != is {
				v.SetString(text)
			}
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			t.each(v.Elem(), field, rule, do)
		}
	case reflect.Slice, reflect.Array:
		if rule == TextVariables { // the first field of a Value is its name
			for i := range v.Len() {
				t.each(v.Index(i).Field(0), field, TextVariable, do)
			}
			return
		}
		for i := range v.Len() {
			t.each(v.Index(i), field, rule, do)
		}
	case reflect.Struct:
		for _, f := range t[v.Type()] {
			name, own := f.name, f.rule
			if rule != TextLine || slices.Contains(inherited, v.Type()) {
				name, own = field, max(rule, own)
			}
			t.each(v.Field(f.index), name, own, do)
		}
	}
}

// inherited are the types whose texts go by the name of the field that they are in.
var inherited = []reflect.Type{reflect.TypeFor[Value](), reflect.TypeFor[Request]()}
