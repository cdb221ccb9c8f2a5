package conf

import (
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
	a, ok := findAttribute(o, attr)
	if !ok {
		return "", false
	}
	return a.formatValue(), true
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
	return changedCopy(o, attr, func(a attribute) error { return a.parseValue(value) })
}

// ListOp is one of the four ways in which qconf changes an attribute.
type ListOp int

const (
	// Add is -aattr: adds elements to a list; those that are there stay as
	// they are.
	Add ListOp = iota
	// Modify is -mattr: puts elements in the place of those of the same name.
	Modify
	// Remove is -dattr: removes elements from a list, name=value elements by name. It
	// does not change a value that is no list.
	Remove
	// Replace is -rattr: the whole value. Add and Modify do the same to what
	// is no list.
	Replace
)

// Change returns the object with one attribute changed, and Grid Engine's messages about
// elements that were there already or were missing. Target is a host or @group when the
// change is meant for a cluster queue's exception for it, the name or number of the rule
// when it is meant for the limits of a resource quota set, else "".
func Change(o grid.Object, op ListOp, attr, target, value string) (n grid.Object, notes []string, err error) {
	if c, isConf := o.(*grid.Conf); isConf {
		n, err = Set(c, attr, value)
		return n, nil, err
	}
	if c, isSched := o.(*grid.SchedConf); isSched && strings.Contains(attr, ".") {
		n, err = changeSection(c, op, attr, value)
		return n, nil, err
	}
	if r, isRQS := o.(*grid.RQS); isRQS && attr == "limit" {
		return changeRule(r, op, target, value)
	}
	n, err = changedCopy(o, attr, func(a attribute) error {
		at := a.exceptionList()
		if !at.IsValid() {
			text, n, err := a.combineLists(op, ownerWord(o), a.formatOne(a.value), value)
			notes = n
			if err != nil {
				return err
			}
			return a.parseOne(text, a.value)
		}
		var exceptions grid.Values
		if target != "" {
			exceptions, value = grid.Values{{Name: target, Text: value}}, ""
		} else if value, exceptions, err = splitExceptions(value); err != nil {
			return err
		}
		if value != "" {
			v := a.value.FieldByName("Value")
			text, n, err := a.combineLists(op, ownerWord(o), a.formatOne(v), value)
			if notes = append(notes, n...); err != nil {
				return err
			}
			if err := a.parseOne(text, v); err != nil {
				return err
			}
		}
		for _, e := range exceptions {
			old := a.empty
			if v := a.exceptionAt(e.Name); v.IsValid() {
				old = a.formatOne(v)
			} else if op == Remove {
				continue
			}
			text, n, err := a.combineLists(op, ownerWord(o), old, e.Text)
			if notes = append(notes, n...); err != nil {
				return err
			}
			if err := a.setAt(e.Name, text); err != nil {
				return err
			}
		}
		return nil
	})
	return n, notes, err
}

// ownerWord is the word for an object in the notes of Change: the name of a
// cluster queue, qconf's word for the kind of others.
func ownerWord(o grid.Object) string {
	switch o := o.(type) {
	case *grid.CQueue:
		return o.Name
	case *grid.HGroup:
		return "hostgroup"
	case *grid.RQS:
		return "resource_quota"
	}
	return strings.ToLower(o.Kind().String())
}

// Purge returns the cluster queue without the exceptions of a host or host
// group: of one attribute, or of all when attr is "*".
func Purge(o grid.Object, attr, target string) (grid.Object, error) {
	c := cloneObject(o)
	found := false
	for _, a := range attributesOf(c) {
		at := a.exceptionList()
		if !at.IsValid() || attr != "*" && attr != a.Name {
			continue
		}
		found = true
		a.removeAt(target)
	}
	if !found {
		return nil, refusef("unknown attribute name %q", attr)
	}
	return c, nil
}

// removeAt removes the exception for a target, if there is one.
func (a attribute) removeAt(target string) {
	at := a.exceptionList()
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

// exceptionAt is the value of the exception for a target, invalid when it has none.
func (a attribute) exceptionAt(target string) reflect.Value {
	for i, list := 0, a.exceptionList(); i < list.Len(); i++ {
		if list.Index(i).FieldByName("Target").String() == target {
			return list.Index(i).FieldByName("Value")
		}
	}
	return reflect.Value{}
}

// combineLists is the new text of a value made from its old one.
func (a attribute) combineLists(op ListOp, owner, old, value string) (text string, notes []string, err error) {
	t := a.value.Type()
	if a.exceptionList().IsValid() {
		t = a.value.FieldByName("Value").Type()
	}
	isValues := t == reflect.TypeFor[grid.Values]()
	isList := isValues || t == reflect.TypeFor[grid.Names]() && a.Name != "qtype" // whose words are flags
	switch {
	case op == Replace, op == Modify && isNone(value): // the whole list, or none of it
		return value, nil, nil
	case !isList:
		if op == Remove {
			value = old
		}
		return value, nil, nil
	}
	var list []string
	if old != a.empty {
		list = splitList(old)
	}
	wasEmpty := len(list) == 0
	for _, e := range splitList(value) {
		if isNone(e) {
			continue
		}
		if _, _, ok := strings.Cut(e, "="); isValues && !ok && op != Remove {
			return "", nil, a.invalidValue(e)
		}
		i := slices.IndexFunc(list, func(o string) bool { return elementName(o) == elementName(e) })
		switch {
		case op == Remove && i < 0:
			notes = append(notes, fmt.Sprintf("%q does not exist in %q of %q", elementName(e), a.Name, owner))
		case op == Remove:
			list = slices.Delete(list, i, i+1)
		case op == Add && i >= 0:
			notes = append(notes, fmt.Sprintf("No modification because %q already exists in %q of %q",
				elementName(e), a.Name, owner))
		case op == Add:
			list = append(list, e)
		case i >= 0:
			list = append(slices.Delete(list, i, i+1), e)
		default:
			if !wasEmpty {
				notes = append(
					notes, fmt.Sprintf("Unable to find %q in %q of %q - Adding new element.", elementName(e), a.Name, owner))
			}
			list = append(list, e)
		}
	}
	if op == Modify && wasEmpty && len(list) > 0 {
		notes = append(notes, fmt.Sprintf("%q of %q is empty - Adding new element(s).", a.Name, owner))
	}
	if len(list) == 0 {
		return a.empty, notes, nil
	}
	sep := " "
	if isValues {
		sep = ","
	}
	return strings.Join(list, sep), notes, nil
}

// elementName is what names a list's element: all of it, or what stands
// before its value.
func elementName(e string) string {
	n, _, _ := strings.Cut(e, "=")
	return n
}

// changedCopy returns a copy of the object after change was done to an attribute.
func changedCopy(o grid.Object, attr string, change func(attribute) error) (grid.Object, error) {
	c := cloneObject(o)
	a, ok := findAttribute(c, attr)
	if _, rules := o.(*grid.RQS); rules && attr == "limit" {
		return nil, errNoRule
	}
	if !ok {
		return nil, refusef("unknown attribute name %q", attr)
	}
	if err := change(a); err != nil {
		return nil, err
	}
	return c, checkSyntax(c)
}

// cloneObject copies the struct: setting an attribute puts a new list in the place
// of the old one, so lists need no copy.
func cloneObject(o grid.Object) grid.Object {
	v := reflect.New(reflect.TypeOf(o).Elem())
	v.Elem().Set(reflect.ValueOf(o).Elem())
	return v.Interface().(grid.Object)
}
