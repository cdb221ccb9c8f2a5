package conf

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Get is the printed value of one attribute.
func Get(o grid.Object, attr string) (text string, ok bool) {
	if c, isConf := o.(*grid.Conf); isConf {
		return c.Entries.Get(attr)
	}
	a, ok := find(o, attr)
	if !ok {
		return "", false
	}
	return a.format(), true
}

// Set returns the object with one attribute set from its whole text, as in a
// file.
func Set(o grid.Object, attr, value string) (grid.Object, error) {
	if c, isConf := o.(*grid.Conf); isConf {
		if err := checkParameter(grid.Value{Name: attr, Text: value}); err != nil {
			return nil, err
		}
		n := *c
		n.Entries = c.Entries.With(attr, value)
		return &n, nil
	}
	return changed(o, attr, func(a attribute) error { return a.parse(value) })
}

// SetAt returns the object with the attribute's exception for a host or host
// group set; the target "" is the value for all others.
func SetAt(o grid.Object, attr, target, value string) (grid.Object, error) {
	return Change(o, Replace, attr, target, value)
}

// ListOp is one of the four ways in which qconf changes an attribute.
type ListOp int

const (
	// Add is -aattr: adds elements to a list, or replaces those of the same
	// name. What is no list is replaced.
	Add ListOp = iota
	// Modify is -mattr: replaces elements of the same name in a list of
	// name=value elements and adds the others. What is no such list is
	// replaced.
	Modify
	// Replace is -rattr: replaces the whole value.
	Replace
	// Remove is -dattr: removes elements from a list.
	Remove
)

// Change returns the object with one attribute changed. Target is a host or
// @group of a cluster queue's attribute, or "" for the value of all others;
// an exception begins as a copy of what it is an exception from.
func Change(o grid.Object, op ListOp, attr, target, value string) (grid.Object, error) {
	if c, isConf := o.(*grid.Conf); isConf {
		return Set(c, attr, value)
	}
	return changed(o, attr, func(a attribute) error {
		if target != "" && !a.exceptions().IsValid() {
			return fmt.Errorf("attribute %q has no values for hosts", attr)
		}
		if target == "" && strings.Contains(value, "[") && op != Remove && a.exceptions().IsValid() {
			return a.parse(value)
		}
		v := a.at(target)
		old := ""
		if v.IsValid() {
			old = a.formatOne(v)
		} else if op != Replace {
			if op == Remove {
				return fmt.Errorf("%q has no value for %q", attr, target)
			}
			old = a.empty
		}
		text, err := a.combine(op, old, value)
		if err != nil {
			return err
		}
		if target != "" {
			return a.setAt(target, text)
		}
		return a.parseOne(text, v)
	})
}

// Purge returns the cluster queue without the exceptions of a host or host
// group: of one attribute, or of all when attr is "*".
func Purge(o grid.Object, attr, target string) (grid.Object, error) {
	c := clone(o)
	found := false
	for _, a := range attributes(c) {
		at := a.exceptions()
		if !at.IsValid() || attr != "*" && attr != a.name {
			continue
		}
		found = true
		list := reflect.MakeSlice(at.Type(), 0, at.Len())
		for i := range at.Len() {
			if at.Index(i).FieldByName("Target").String() != target {
				list = reflect.Append(list, at.Index(i))
			}
		}
		if list.Len() == 0 {
			list = reflect.Zero(at.Type())
		}
		at.Set(list)
	}
	if !found {
		return nil, fmt.Errorf("unknown attribute name %q", attr)
	}
	return c, nil
}

// at is the value for a target, invalid when it has no exception.
func (a attribute) at(target string) reflect.Value {
	if !a.exceptions().IsValid() {
		return a.value
	}
	if target == "" {
		return a.value.FieldByName("Value")
	}
	for i, list := 0, a.exceptions(); i < list.Len(); i++ {
		if list.Index(i).FieldByName("Target").String() == target {
			return list.Index(i).FieldByName("Value")
		}
	}
	return reflect.Value{}
}

// combine is the new text of a value out of its old one.
func (a attribute) combine(op ListOp, old, value string) (string, error) {
	t := a.value.Type()
	if a.exceptions().IsValid() {
		t = a.value.FieldByName("Value").Type()
	}
	isList, isValues := t == reflect.TypeFor[grid.Names](), t == reflect.TypeFor[grid.Values]()
	switch {
	case op == Replace || op != Remove && !isList && !isValues:
		return value, nil
	case !isList && !isValues:
		return "", fmt.Errorf("attribute %q is no list", a.name)
	}
	var list []string
	if !isNone(old) && old != a.empty {
		list = splitList(old)
	}
	name := func(e string) string {
		n, _, _ := strings.Cut(e, "=")
		return n
	}
	for _, e := range splitList(value) {
		if isNone(e) {
			continue
		}
		i := slices.IndexFunc(list, func(o string) bool { return name(o) == name(e) })
		switch {
		case op == Remove && i < 0:
			return "", fmt.Errorf("%q does not exist in attribute %q", e, a.name)
		case op == Remove:
			list = slices.Delete(list, i, i+1)
		case i >= 0:
			list[i] = e
		default:
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return a.empty, nil
	}
	sep := " "
	if isValues {
		sep = ","
	}
	return strings.Join(list, sep), nil
}

// changed returns a copy of the object after change was done to an attribute.
func changed(o grid.Object, attr string, change func(attribute) error) (grid.Object, error) {
	c := clone(o)
	a, ok := find(c, attr)
	if _, rules := o.(*grid.RQS); rules && attr == "limit" {
		return nil, errors.New("rules are changed with the whole resource quota set: -mrqs")
	}
	if !ok {
		return nil, fmt.Errorf("unknown attribute name %q", attr)
	}
	if err := change(a); err != nil {
		return nil, err
	}
	return c, check(c)
}

// clone copies the struct: setting an attribute puts a new list in the place
// of the old one, so lists need no copy.
func clone(o grid.Object) grid.Object {
	v := reflect.New(reflect.TypeOf(o).Elem())
	v.Elem().Set(reflect.ValueOf(o).Elem())
	return v.Interface().(grid.Object)
}
