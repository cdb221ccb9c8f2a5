package qconf

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// showConf is -sconf: the global configuration, or those of hosts.
func showConf(s *session, w []string) error {
	names := split(w)
	if len(names) == 0 {
		names = []string{grid.GlobalConf}
	}
	return each(names, func(name string) error {
		o, err := s.object(grid.KindConf, name)
		if err == nil && o == nil {
			err = fmt.Errorf("configuration %s not defined", name)
		}
		if err != nil {
			return err
		}
		s.print(s.style().Format(o))
		return nil
	})
}

// listConfs is -sconfl: the hosts with a configuration of their own.
func listConfs(s *session, _ []string) error {
	all, err := s.objects(grid.KindConf)
	if err != nil {
		return err
	}
	var out []string
	for _, o := range all {
		if o.Key().Name != grid.GlobalConf {
			out = append(out, o.Key().Name)
		}
	}
	return s.nameLines(out, "config")
}

// editConf is -aconf (fresh) and -mconf.
func editConf(fresh bool) func(*session, []string) error {
	return func(s *session, w []string) error {
		names := split(w)
		if len(names) == 0 {
			names = []string{grid.GlobalConf}
		}
		return each(names, func(name string) error {
			found, err := s.object(grid.KindConf, name)
			if err != nil {
				return err
			}
			old, known := found.(*grid.Conf)
			switch {
			case known && fresh:
				return fmt.Errorf("configuration %q already exists", name)
			case !known && !fresh:
				return fmt.Errorf("configuration %s not defined", name)
			case !known:
				old = &grid.Conf{Host: name}
			}
			before := conf.EditText(old)
			after, err := s.edit(before)
			if err != nil {
				return err
			}
			if after == before && known {
				return fmt.Errorf("configuration %q has not been changed", name)
			}
			return s.putConf(name, after, known, old.Version)
		})
	}
}

// fileConf is -Aconf (fresh) and -Mconf: files named after their hosts.
func fileConf(fresh bool) func(*session, []string) error {
	return func(s *session, w []string) error {
		return each(split(w), func(path string) error {
			text, err := s.file(path)
			if err != nil {
				return err
			}
			return s.putConf(filepath.Base(path), text, !fresh, 0)
		})
	}
}

func (s *session) putConf(host, text string, known bool, version uint32) error {
	c := &grid.Conf{Host: host}
	if err := conf.Parse(text, c); err != nil {
		return fmt.Errorf("error: %w", err)
	}
	c.Host, c.Version = host, version
	if known {
		return s.ask(&gdi.Modify{Objects: []grid.Object{c}})
	}
	return s.ask(&gdi.Add{Objects: []grid.Object{c}})
}

func removeConf(s *session, name string) error {
	return s.ask(&gdi.Delete{Kind: grid.KindConf, Keys: []grid.Key{{Name: name}}})
}

// single is a kind with one object: scheduler configuration and share tree.
type single struct {
	kind grid.Kind
	what string
	none string
}

func (k single) read(s *session) (grid.Object, error) {
	all, err := s.objects(k.kind)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}

func (k single) show(s *session, _ []string) error {
	o, err := k.read(s)
	if err == nil && o == nil {
		err = errors.New(k.none)
	}
	if err != nil {
		return err
	}
	s.print(s.style().Format(o))
	return nil
}

func (k single) edit(s *session, _ []string) error {
	old, err := k.read(s)
	if err != nil {
		return err
	}
	begin := old
	if begin == nil {
		begin = conf.Default(k.kind, "")
	}
	before := conf.EditText(begin)
	after, err := s.edit(before)
	if err != nil {
		return err
	}
	if after == before {
		return fmt.Errorf("%s has not been changed", k.what)
	}
	return k.put(s, old, after)
}

func (k single) file(s *session, w []string) error {
	text, err := s.file(w[0])
	if err != nil {
		return err
	}
	old, err := k.read(s)
	if err != nil {
		return err
	}
	return k.put(s, old, text)
}

func (k single) put(s *session, old grid.Object, text string) error {
	o := grid.SpecOf(k.kind).New()
	if err := conf.Parse(text, o); err != nil {
		return fmt.Errorf("error: %w", err)
	}
	if old == nil {
		return s.ask(&gdi.Add{Objects: []grid.Object{o}})
	}
	grid.SetVersion(o, grid.Version(old))
	return s.ask(&gdi.Modify{Objects: []grid.Object{o}})
}

func (k single) remove(s *session, _ []string) error {
	o, err := k.read(s)
	if err == nil && o == nil {
		err = fmt.Errorf("%s does not exist", k.what)
	}
	if err != nil {
		return err
	}
	return s.ask(&gdi.Delete{Kind: k.kind, Keys: []grid.Key{o.Key()}})
}

// centries returns the whole complex.
func (s *session) centries() ([]*grid.Centry, error) {
	all, err := s.objects(grid.KindCentry)
	var out []*grid.Centry
	for _, o := range all {
		out = append(out, o.(*grid.Centry))
	}
	return out, err
}

// showComplex is -sc.
func showComplex(s *session, _ []string) error {
	list, err := s.centries()
	if err == nil {
		s.print(conf.FormatCentries(list))
	}
	return err
}

// editComplex is -mc.
func editComplex(s *session, _ []string) error {
	old, err := s.centries()
	if err != nil {
		return err
	}
	text, err := s.edit(conf.FormatCentries(old))
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
	old, err := s.centries()
	if err != nil {
		return err
	}
	return s.putComplex(old, text)
}

// putComplex makes the complex what the text says: attributes that are not in
// it go.
func (s *session) putComplex(old []*grid.Centry, text string) error {
	list, err := conf.ParseCentries(text)
	if err != nil {
		return fmt.Errorf("error: %w", err)
	}
	known := map[string]*grid.Centry{}
	for _, c := range old {
		known[c.Name] = c
	}
	var add, modify []grid.Object
	for _, c := range list {
		was := known[c.Name]
		delete(known, c.Name)
		if was == nil {
			add = append(add, c)
			continue
		}
		changed := *c
		if changed.Version = was.Version; changed != *was {
			modify = append(modify, &changed)
		}
	}
	var bodies []gdi.Body
	for _, c := range old {
		if known[c.Name] != nil {
			bodies = append(bodies, &gdi.Delete{Kind: grid.KindCentry, Keys: []grid.Key{c.Key()}})
		}
	}
	if len(add) > 0 {
		bodies = append(bodies, &gdi.Add{Objects: add})
	}
	if len(modify) > 0 {
		bodies = append(bodies, &gdi.Modify{Objects: modify})
	}
	if len(bodies) == 0 {
		return refusal("Complex attribute configuration has not been changed")
	}
	var errs []error
	for _, b := range bodies {
		if err := s.ask(b); err != nil {
			errs = append(errs, err)
		}
	}
	return join(errs)
}
