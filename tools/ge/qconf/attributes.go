package qconf

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// attributeKind returns the kind of objects whose single attributes are changed under a word.
func attributeKind(word string) (grid.Kind, bool) {
	if word == schedConf {
		return grid.KindSchedConf, true
	}
	for _, f := range families {
		if f.word == word {
			return f.kind, !f.whole
		}
	}
	return 0, false
}

// schedConf is the only object of its kind: what the list of names says of it
// does not matter, and there need be none.
const schedConf = "sched_conf"

// changeWords is -aattr, -mattr, -dattr, -rattr: object kind, attribute,
// value, names.
func changeWords(op conf.ListOp) func(*session, []string) error {
	return func(s *session, w []string) error {
		return s.changeAttributes(op, w[0], grid.Values{{Name: w[1], Text: w[2]}}, w[3:])
	}
}

// changeFile is -Aattr, ...: object kind, file, names.
func changeFile(op conf.ListOp) func(*session, []string) error {
	return func(s *session, w []string) error {
		from, err := s.file(w[1])
		if err != nil {
			return err
		}
		values := lines(from.text)
		if len(values) == 0 {
			return fmt.Errorf("error reading file: %q", w[1])
		}
		return s.changeAttributes(op, w[0], values, w[2:])
	}
}

// lines reads attribute lines: a name, blanks, a value; long ones continued
// with a backslash.
func lines(text string) (out grid.Values) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); name != "" && !strings.HasPrefix(name, "#") {
			out = append(out, grid.Value{Name: name, Text: strings.Join(strings.Fields(value), " ")})
		}
	}
	return out
}

func (s *session) changeAttributes(op conf.ListOp, noun string, values grid.Values, names []string) error {
	kind, ok := attributeKind(noun)
	if !ok {
		return refuse("Modification of object %q not supported", noun)
	}
	for _, v := range values {
		if v.Text == "" {
			return refusalAbout(kind, "", gdi.StatusInvalid,
				refuse("The attribute name (%q) and/or value (%q) is invalid", v.Name, v.Text))
		}
		if key := conf.Attributes(kind)[0]; v.Name == key && noun != schedConf {
			return refusalAbout(kind, "", gdi.StatusInvalid, refuse("qconf: cannot change %s", key))
		}
	}
	if noun == schedConf {
		names = []string{(&grid.SchedConf{}).Key().Name}
	}
	return s.each(split(names), func(name string) error {
		object, target := name, ""
		if kind == grid.KindCQueue {
			object, target, _ = strings.Cut(name, "@")
		}
		if kind == grid.KindRQS {
			object, target, _ = strings.Cut(name, "/")
		}
		missing := unknown(kind, object, fmt.Errorf("denied: %s %q does not exist", grid.SpecOf(kind).Noun, object))
		return s.onEach(kind, object, missing, func(o grid.Object) (grid.Object, error) {
			for _, v := range values {
				changed, notes, err := conf.Change(o, op, v.Name, target, v.Text)
				if err != nil {
					return nil, refusalAbout(kind, name, gdi.StatusInvalid, err)
				}
				for _, n := range notes {
					s.warn(n)
				}
				o = changed
			}
			return o, nil
		})
	})
}

// onEach changes the object of a name, or for cluster queues all that match.
func (s *session) onEach(kind grid.Kind, name string, missing error, f func(grid.Object) (grid.Object, error)) error {
	if kind != grid.KindCQueue || !strings.ContainsAny(name, "*?[") {
		return s.change(kind, name, missing, f)
	}
	list, err := familyOf(kind).matching(s, name)
	if err == nil && len(list) == 0 {
		err = missing
	}
	if err != nil {
		return err
	}
	var found []string
	for _, o := range list {
		found = append(found, o.Key().Name)
	}
	return s.each(found, func(name string) error { return s.change(kind, name, missing, f) })
}

// purge is -purge queue attr,... queue@host: the exceptions go.
func purge(s *session, w []string) error {
	if w[0] != "queue" {
		return refuse("error: Modification of object %q not supported", w[0])
	}
	return s.each(split(w[2:]), func(name string) error {
		queue, target, ok := strings.Cut(name, "@")
		if !ok || target == "" {
			return refusalAbout(grid.KindCQueue, name, gdi.StatusInvalid,
				refuse("error: Given object_instance %q is incomplete", name))
		}
		missing := unknown(grid.KindCQueue, queue, refuse("error: Cluster queue entry %q does not exist", queue))
		return s.onEach(grid.KindCQueue, queue, missing, func(o grid.Object) (grid.Object, error) {
			before := conf.Format(o)
			for _, attr := range split(w[1:2]) {
				changed, err := conf.Purge(o, attr, target)
				if err != nil {
					return nil, refusalAbout(grid.KindCQueue, name, gdi.StatusInvalid, err)
				}
				o = changed
			}
			if conf.Format(o) == before {
				return nil, unknown(grid.KindCQueue, name, refuse("Attribute name (%q) and/or value (%q) not found", w[1], target))
			}
			return o, nil
		})
	})
}

// matchingObjects is -sobjl: the names of objects with an attribute that
// matches. For queue_domain and queue_instance only exceptions count.
func matchingObjects(s *session, w []string) error {
	noun, attr, value := w[0], w[1], w[2]
	kind := grid.KindCQueue
	switch noun {
	case "queue", "queue_domain", "queue_instance":
	case "exechost":
		kind = grid.KindExecHost
	default:
		return refuse("error: object %q is not supported by -sobjl", noun)
	}
	all, err := s.objects(kind)
	if err != nil {
		return err
	}
	known := false
	var found []string
	for _, o := range all {
		names := map[string]bool{}
		for _, a := range conf.Attributes(kind) {
			if !pattern.Match(attr, a) {
				continue
			}
			known = true
			text, _ := conf.Get(o, a)
			for _, name := range holders(noun, o.Key().Name, text, value) {
				if !names[name] {
					found = append(found, name)
				}
				names[name] = true
			}
		}
	}
	if !known && len(all) > 0 {
		return refuse("unknown attribute name %q", attr)
	}
	s.showNames(found, "\n")
	return nil
}

// holders are the names under which an attribute's text has the value: the
// object's own, or those of its exceptions.
func holders(noun, name, text, value string) (out []string) {
	plain, rest, _ := strings.Cut(text, ",[")
	if noun == "queue" || noun == "exechost" {
		if pattern.Match(value, plain) {
			return []string{name}
		}
		return nil
	}
	for _, exception := range strings.Split(strings.TrimSuffix(rest, "]"), "],[") {
		target, v, ok := strings.Cut(exception, "=")
		if ok && pattern.Match(value, v) && strings.HasPrefix(target, "@") == (noun == "queue_domain") {
			out = append(out, name+"@"+target)
		}
	}
	return out
}
