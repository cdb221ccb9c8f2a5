package qconf

import (
	"fmt"
	"reflect"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// replace puts a list of objects of a kind in the place of old ones: those that
// are not in it go. It says whether anything differs.
func (s *session) replace(kind grid.Kind, old, list []grid.Object) (differs bool, err error) {
	was := map[grid.Key]grid.Object{}
	for _, o := range old {
		was[o.Key()] = o
	}
	var add, modify []grid.Object
	for _, o := range list {
		before := was[o.Key()]
		delete(was, o.Key())
		if before == nil {
			add = append(add, o)
			continue
		}
		if grid.SetVersion(o, grid.Version(before)); !reflect.DeepEqual(o, before) {
			modify = append(modify, o)
		}
	}
	var bodies []gdi.Body
	for _, o := range old {
		if was[o.Key()] != nil {
			bodies = append(bodies, &gdi.Delete{Kind: kind, Keys: []grid.Key{o.Key()}})
		}
	}
	if len(add) > 0 {
		bodies = append(bodies, &gdi.Add{Objects: add})
	}
	if len(modify) > 0 {
		bodies = append(bodies, &gdi.Modify{Objects: modify})
	}
	for _, b := range bodies {
		if s.failed(s.ask(b)) {
			err = errTold
		}
	}
	return len(bodies) > 0, err
}

// showComplex is -sc.
func showComplex(s *session, _ []string) error {
	list, err := s.objects(grid.KindCentry)
	if err == nil {
		s.print(complexText(list))
	}
	return err
}

func complexText(list []grid.Object) string {
	var rows []*grid.Centry
	for _, o := range list {
		rows = append(rows, o.(*grid.Centry))
	}
	return conf.FormatCentries(rows)
}

// editComplex is -mc.
func editComplex(s *session, _ []string) error {
	old, err := s.objects(grid.KindCentry)
	if err != nil {
		return err
	}
	text, err := s.edited(grid.KindCentry, complexText(old), "")
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
func (s *session) putComplex(old []grid.Object, text string) error {
	rows, err := conf.ParseCentries(text)
	if err != nil {
		return fmt.Errorf("error: %w", err)
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

// editQuotas is -mrqs.
func editQuotas(s *session, w []string) error {
	old, err := s.quotas(split(w))
	if err != nil {
		return err
	}
	var sets []*grid.RQS
	for _, o := range old {
		sets = append(sets, o.(*grid.RQS))
	}
	text, err := s.edited(grid.KindRQS, conf.FormatRQSs(sets), sameFile)
	if err != nil {
		return err
	}
	list, err := familyOf(grid.KindRQS).parse(text)
	if err == nil {
		_, err = s.replace(grid.KindRQS, old, list)
	}
	return err
}

// fileQuotas is -Mrqs: the sets of the file are all there are, or with names
// behind it those of these names are changed.
func fileQuotas(s *session, w []string) error {
	text, err := s.file(w[0])
	if err != nil {
		return err
	}
	list, err := familyOf(grid.KindRQS).parse(text)
	if err != nil {
		return err
	}
	names := split(w[1:])
	if len(names) > 0 {
		in := map[string]grid.Object{}
		for _, o := range list {
			in[o.Key().Name] = o
		}
		list = nil
		for _, n := range names {
			if in[n] == nil {
				return refuse("resource quota set %q not found in file %q", n, w[0])
			}
			list = append(list, in[n])
		}
	}
	old, err := s.objects(grid.KindRQS, names...)
	if err == nil {
		_, err = s.replace(grid.KindRQS, old, list)
	}
	return err
}
