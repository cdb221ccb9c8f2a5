package qconf

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// noConf is the error of a configuration that does not exist.
func noConf(name string) error {
	return unknown(grid.KindConf, name, fmt.Errorf("configuration %s not defined", name))
}

// showConf is -sconf: the global configuration, or those of hosts.
func showConf(s *session, w []string) error {
	names := split(w)
	if len(names) == 0 {
		names = []string{grid.GlobalConf}
	}
	var found []document.Shown
	err := s.each(names, func(name string) error {
		o, err := s.object(grid.KindConf, name)
		if err == nil && o == nil {
			err = noConf(name)
		}
		if err != nil {
			return err
		}
		found = append(found, document.Shown{Object: o})
		return nil
	})
	if err := s.showObjects(grid.KindConf, found); err != nil {
		return err
	}
	return err
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
		return s.each(names, func(name string) error {
			found, err := s.object(grid.KindConf, name)
			if err != nil {
				return err
			}
			old, known := found.(*grid.Conf)
			switch {
			case known && fresh:
				return refusalAbout(grid.KindConf, name, gdi.StatusExists, fmt.Errorf("configuration %s already exists", name))
			case !known:
				old = &grid.Conf{Host: name}
			}
			same := unchanged
			if !known {
				same = "configuration unchanged"
			}
			after, err := s.edited(grid.KindConf, conf.EditText(old), same)
			if err != nil {
				return err
			}
			return s.putConf(name, after, known, old.Version)
		})
	}
}

// fileConf is -Aconf (fresh) and -Mconf: files named after their hosts.
func fileConf(fresh bool) func(*session, []string) error {
	return func(s *session, w []string) error {
		return s.each(split(w), func(path string) error {
			text, err := s.file(path)
			if err != nil {
				return err
			}
			return s.putConf(filepath.Base(path), text, !fresh, 0)
		})
	}
}

func (s *session) putConf(host string, from source, known bool, version uint32) error {
	c := &grid.Conf{Host: host}
	if err := conf.Parse(from.text, c); err != nil {
		return from.unreadable(grid.KindConf, err)
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
	return s.showObjects(k.kind, shownOf(o))
}

func (k single) edit(s *session, _ []string) error {
	old, err := k.read(s)
	if err != nil {
		return err
	}
	begin := old
	if begin == nil {
		begin = grid.Default(k.kind, "")
	}
	same := unchanged
	if old == nil {
		same = unchangedTemplate
	}
	after, err := s.edited(k.kind, conf.EditText(begin), same)
	if err != nil {
		return err
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

func (k single) put(s *session, old grid.Object, from source) error {
	o := grid.SpecOf(k.kind).New()
	if err := conf.Parse(from.text, o); err != nil {
		return from.unreadable(k.kind, err)
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
		err = unknown(k.kind, "", fmt.Errorf("%s does not exist", k.what))
	}
	if err != nil {
		return err
	}
	return s.ask(&gdi.Delete{Kind: k.kind, Keys: []grid.Key{o.Key()}})
}
