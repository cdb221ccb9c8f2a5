package qconf

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// hostsOf are the hosts that an object names: a new object its own, a host
// group or a queue its members. The text is the message for one that
// does not exist.
func hostsOf(o grid.Object, fresh bool) (hosts grid.Names, text string) {
	members := func(list grid.Names) (out grid.Names) {
		for _, n := range list {
			if !strings.HasPrefix(n, "@") {
				out = append(out, n)
			}
		}
		return out
	}
	switch o := o.(type) {
	case *grid.HGroup:
		return members(o.HostList), "unable to resolve host %q"
	case *grid.CQueue:
		return members(o.HostList), "unable to resolve host %q"
	case *grid.AdminHost, *grid.SubmitHost, *grid.ExecHost, *grid.Conf:
		if name := o.Key().Name; fresh && name != grid.GlobalHost {
			return grid.Names{name}, "can't resolve hostname %q"
		}
	}
	return nil, ""
}

// resolve refuses objects with hosts that neither the cell nor the resolver of
// this machine knows. The hosts of a cell on one machine may have names that no
// resolver knows.
func (s *session) resolve(body gdi.Body) error {
	var added, modified []grid.Object
	switch b := body.(type) {
	case *gdi.Add:
		added = b.Objects
	case *gdi.Modify:
		modified = b.Objects
	case *gdi.Change:
		added, modified = b.Add, b.Modify
	}
	for i, o := range slices.Concat(added, modified) {
		hosts, text := hostsOf(o, i < len(added))
		if len(hosts) == 0 {
			continue
		}
		known := map[string]bool{}
		get := gdi.Get{Kinds: []grid.Kind{grid.KindExecHost, grid.KindAdminHost, grid.KindSubmitHost}}
		for _, h := range hosts {
			get.Where.Keys = append(get.Where.Keys, grid.Key{Name: h})
		}
		if _, err := s.Get(s.ctx, get, func(o grid.Object) error { known[o.Key().Name] = true; return nil }); err != nil {
			return err
		}
		for _, h := range hosts {
			if !known[h] && !s.env.Resolve(s.ctx, h) {
				return refusalAbout(o.Kind(), o.Key().Name, gdi.StatusInvalid, refuse(text, h))
			}
		}
	}
	return nil
}
