package qconf

import (
	"errors"
	"reflect"
	"slices"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// replace puts a list of objects of a kind in the place of old ones, in one
// transaction: those that are not in it are deleted. It reports whether anything differs.
func (s *session) replace(kind grid.Kind, old, list []grid.Object) (differs bool, err error) {
	was := map[grid.Key]grid.Object{}
	for _, o := range old {
		was[o.Key()] = o
	}
	change := &gdi.Change{Delete: gdi.Delete{Kind: kind}}
	for _, o := range list {
		before := was[o.Key()]
		delete(was, o.Key())
		if before == nil {
			change.Add = append(change.Add, o)
			continue
		}
		if grid.SetVersion(o, grid.Version(before)); !reflect.DeepEqual(o, before) {
			change.Modify = append(change.Modify, o)
		}
	}
	for _, o := range old {
		if was[o.Key()] != nil {
			change.Delete.Keys = append(change.Delete.Keys, o.Key())
		}
	}
	if len(change.Delete.Keys)+len(change.Add)+len(change.Modify) == 0 {
		return false, nil
	}
	return true, s.ask(change)
}

// showComplex is -sc.
func showComplex(s *session, _ []string) error {
	list, err := s.objects(grid.KindCentry)
	if err == nil {
		err = s.showObjects(grid.KindCentry, shownOf(list...))
	}
	return err
}

// editComplex is -mc.
func editComplex(s *session, _ []string) error {
	old, err := s.objects(grid.KindCentry)
	if err != nil {
		return err
	}
	text, err := s.edited(grid.KindCentry, s.text(grid.KindCentry, shownOf(old...)), unchanged)
	if err != nil {
		return err
	}
	return s.putComplex(old, text)
}

// fileComplex is -Mc.
func fileComplex(s *session, w []string) error {
	text, err := s.file(w[0])
	if err != nil {
		return err
	}
	old, err := s.objects(grid.KindCentry)
	if err != nil {
		return err
	}
	return s.putComplex(old, text)
}

// putComplex makes the complex what the text says. One that it is already is no
// failure, so that a script may say the same again.
func (s *session) putComplex(old []grid.Object, from source) error {
	rows, err := conf.ParseCentries(from.text)
	if err != nil {
		return from.unreadable(grid.KindCentry, err)
	}
	if len(rows) == 0 {
		return refusal("error: the complex has no attributes")
	}
	var list []grid.Object
	for _, c := range rows {
		list = append(list, c)
	}
	differs, err := s.replace(grid.KindCentry, old, list)
	if !differs {
		s.note("Complex attribute configuration has not been changed\n")
	}
	return err
}

// quotas are the resource quota sets named, or all.
func (s *session) quotas(names []string) ([]grid.Object, error) {
	list, err := s.objects(grid.KindRQS, names...)
	if err == nil && len(list) == 0 && len(names) > 0 {
		err = familyOf(grid.KindRQS).missing("")
	}
	return list, err
}

// editQuotas is -mrqs: all sets, or with names those of these names.
func editQuotas(s *session, w []string) error {
	names := split(w)
	old, err := s.quotas(names)
	if err != nil {
		return err
	}
	var sets []*grid.RQS
	for _, o := range old {
		sets = append(sets, o.(*grid.RQS))
	}
	text, err := s.edited(grid.KindRQS, conf.FormatRQSs(sets), unchanged)
	if err != nil {
		return err
	}
	list, err := familyOf(grid.KindRQS).parse(text)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		if differs, err := s.replace(grid.KindRQS, old, list); differs || err != nil {
			return err
		}
	}
	for _, set := range list {
		for _, o := range old {
			if o.Key() == set.Key() {
				grid.SetVersion(set, grid.Version(o))
			}
		}
	}
	return s.ask(&gdi.Modify{Objects: list})
}

// fileQuotas is -Mrqs: the sets of the file become all there are, or with names
// those of these names are modified.
func fileQuotas(s *session, w []string) error {
	text, err := s.file(w[0])
	if err != nil {
		return err
	}
	list, err := familyOf(grid.KindRQS).parse(text)
	names := split(w[1:])
	switch {
	case errors.Is(err, conf.ErrNoQuotaSets) && len(names) == 0: // a cell without sets was saved
		s.note("resource quota sets have not been changed: %q contains none\n", w[0])
		return nil
	case err != nil:
		return err
	case len(names) > 0:
		if list, err = named(list, names, w[0]); err != nil {
			return err
		}
		return s.ask(&gdi.Modify{Objects: list})
	}
	old, err := s.objects(grid.KindRQS)
	if err == nil {
		_, err = s.replace(grid.KindRQS, old, list)
	}
	return err
}

// named picks the sets of some names from those of a file.
func named(list []grid.Object, names []string, file string) (out []grid.Object, err error) {
	for _, n := range names {
		i := slices.IndexFunc(list, func(o grid.Object) bool { return o.Key().Name == n })
		if i < 0 {
			return nil, refuse("resource quota set %q not found in file %q", n, file)
		}
		out = append(out, list[i])
	}
	return out, nil
}
