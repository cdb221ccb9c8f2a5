package qconf

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/view"
)

// load returns what a host reports of itself, nil when it reports nothing.
func (s *session) load(host string) (*grid.Load, error) {
	found, err := s.object(grid.KindLoad, host)
	load, _ := found.(*grid.Load)
	return load, err
}

// groups is all that host groups and queues by host need.
func (s *session) groups() (*state.State, error) {
	return client.Fetch(s.ctx, s, gdi.Get{Kinds: []grid.Kind{grid.KindHGroup, grid.KindCQueue, grid.KindQInstance}})
}

// showQueues is -sq: cluster queues by name or pattern, and queue instances
// (queue@host) with the values that hold there.
func (f *family) showQueues(s *session, names []string) error {
	if len(names) == 0 {
		return s.showObjects(f.kind, shownOf(grid.DefaultCQueue(f.template)))
	}
	st, err := s.groups()
	if err != nil {
		return err
	}
	queues, err := s.objects(f.kind)
	if err != nil {
		return err
	}
	var found []document.Shown
	err = s.each(names, func(name string) error {
		before := len(found)
		if strings.Contains(name, "@") {
			named := view.Named(st, grid.Names{name})
			for _, i := range st.QInstances() {
				if q := st.CQueue(i.Queue); q != nil && named(i.Queue, i.Host) {
					found = append(found, document.Shown{Object: instance(st, q, i.Host), Host: i.Host})
				}
			}
		} else {
			for _, q := range queues {
				if pattern.Match(name, q.Key().Name) {
					found = append(found, document.Shown{Object: q})
				}
			}
		}
		if len(found) == before {
			return f.missing(name)
		}
		return nil
	})
	if err := s.showObjects(f.kind, found); err != nil {
		return err
	}
	return err
}

// instance returns a cluster queue with the values that hold at one host.
func instance(st *state.State, queue *grid.CQueue, host string) *grid.CQueue {
	q := *queue
	member := reflect.ValueOf(func(group string) bool { return st.Member(group, host) })
	v := reflect.ValueOf(&q).Elem()
	for n := range v.NumField() {
		field := v.Field(n)
		if field.Kind() != reflect.Struct {
			continue
		}
		at := field.FieldByName("At")
		field.FieldByName("Value").Set(field.MethodByName("For").Call([]reflect.Value{reflect.ValueOf(host), member})[0])
		at.SetZero()
	}
	q.HostList = grid.Names{host}
	return &q
}

// groupTree is -shgrp_tree: groups, and below each what it is made of.
func groupTree(s *session, w []string) error {
	var members []document.GroupMember
	err := s.eachGroup(w, func(st *state.State, name string) {
		var show func(name string, above []string)
		show = func(name string, above []string) {
			m := document.GroupMember{Name: name, Depth: len(above)}
			if len(above) > 0 {
				m.Group = above[len(above)-1]
			}
			members = append(members, m)
			if g := st.HGroup(name); g != nil && !slices.Contains(above, name) {
				for _, member := range g.HostList {
					show(member, append(above, name))
				}
			}
		}
		show(name, nil)
	})
	if s.json {
		s.shown = document.GroupTree{Members: document.RowsOf(members)}
		return err
	}
	for _, m := range members {
		s.printf("%s%s\n", strings.Repeat("   ", m.Depth), m.Name)
	}
	return err
}

// groupHosts is -shgrp_resolved: the hosts of groups and of the groups in them.
func groupHosts(s *session, w []string) error {
	var all []string
	err := s.eachGroup(w, func(st *state.State, name string) {
		hosts := view.Members(st, name)
		if !s.json {
			s.print(strings.Join(hosts, " ") + "\n")
		}
		all = append(all, hosts...)
	})
	if s.json {
		s.showNames(all, "")
	}
	return err
}

// eachGroup shows host groups by name.
func (s *session) eachGroup(w []string, show func(st *state.State, name string)) error {
	st, err := s.groups()
	if err != nil {
		return err
	}
	return s.each(split(w), func(name string) error {
		if st.HGroup(name) == nil {
			return familyOf(grid.KindHGroup).missing(name)
		}
		show(st, name)
		return nil
	})
}

// nameList is a kind that is only names: managers, operators, administrative
// and submit hosts.
type nameList struct {
	kind grid.Kind
	what string // of help
	none string
	of   func(name string) grid.Object
}

var nameLists = []nameList{
	{grid.KindManager, "user to manager list", "manager", func(n string) grid.Object { return &grid.Manager{Name: n} }},
	{grid.KindOperator, "user to operator list", "operator",
		func(n string) grid.Object { return &grid.Operator{Name: n} }},
	{grid.KindAdminHost, "administrative host", "administrative host",
		func(n string) grid.Object { return &grid.AdminHost{Name: n} }},
	{grid.KindSubmitHost, "submit host", "submit host", func(n string) grid.Object { return &grid.SubmitHost{Name: n} }},
}

func (l *nameList) add(s *session, w []string) error {
	return s.each(split(w), func(name string) error {
		return s.ask(&gdi.Add{Objects: []grid.Object{l.of(name)}})
	})
}

func (l *nameList) remove(s *session, w []string) error {
	d := &gdi.Delete{Kind: l.kind}
	for _, name := range split(w) {
		d.Keys = append(d.Keys, grid.Key{Name: name})
	}
	return s.ask(d)
}

func (l *nameList) show(s *session, _ []string) error {
	all, err := s.objects(l.kind)
	if err != nil {
		return err
	}
	var out []string
	for _, o := range all {
		out = append(out, o.Key().Name)
	}
	return s.nameLines(out, l.none)
}

// showDetached is -sds: values of cluster queues for hosts on which they have no
// instance. Any makes it fail, for scripts.
func showDetached(s *session, _ []string) error {
	queues, err := s.objects(grid.KindCQueue)
	if err != nil {
		return err
	}
	instances, err := s.objects(grid.KindQInstance)
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, i := range instances {
		used[i.Key().Name] = true
	}
	var unused []document.Setting
	for _, o := range queues {
		q := o.(*grid.CQueue)
		for attribute, target := range q.Exceptions() {
			if !strings.HasPrefix(target, "@") && !used[q.Name+"@"+target] {
				unused = append(unused, document.Setting{Queue: q.Name, Attribute: attribute, Host: target})
			}
		}
	}
	if s.json {
		s.shown = document.Detached{Settings: document.RowsOf(unused)}
	} else {
		for _, u := range unused {
			s.printf("unused setting for attribute %q and host %q in queue %q.\n", u.Attribute, u.Host, u.Queue)
		}
	}
	if len(unused) > 0 {
		return errReported
	}
	return nil
}

// addUsers is -au: users into access lists, which are made when they do not
// exist.
func addUsers(s *session, w []string) error {
	return s.changeUsers(w, grid.DefaultUserset, func(u *grid.Userset, user string) (note string, err error) {
		if u.Entries.Has(user) {
			return "", refuse("%q is already in access list %q", user, u.Name)
		}
		u.Entries = append(u.Entries, user)
		return fmt.Sprintf("added %q to access list %q\n", user, u.Name), nil
	})
}

// changeUsers changes access lists user by user. A list that does not exist is made by absent; nil: that is an error.
func (s *session) changeUsers(
	w []string, absent func(list string) *grid.Userset, change func(u *grid.Userset, user string) (note string, err error),
) error {
	users, lists := split(w[:1]), split(w[1:])
	return s.each(lists, func(list string) error {
		found, err := s.object(grid.KindUserset, list)
		if err != nil {
			return err
		}
		u, known := found.(*grid.Userset)
		switch {
		case !known && absent == nil:
			return unknown(grid.KindUserset, list, fmt.Errorf("access list %q doesn't exist", list))
		case !known:
			u = absent(list)
		}
		changed := *u
		changed.Entries = slices.Clone(u.Entries)
		var notes []string
		for _, user := range users {
			note, err := change(&changed, user)
			if err != nil {
				s.failed(err)
				continue
			}
			notes = append(notes, note)
		}
		if len(notes) > 0 {
			var body gdi.Body = &gdi.Modify{Objects: []grid.Object{&changed}}
			if !known {
				body = &gdi.Add{Objects: []grid.Object{&changed}}
			}
			err = s.quietly(body, notes)
		}
		if err == nil && len(notes) < len(users) {
			err = errReported
		}
		return err
	})
}

// quietly sends a change of an access list; when it is granted each of its
// entries is reported instead.
func (s *session) quietly(body gdi.Body, notes []string) error {
	reply, err := s.Do(s.ctx, "qconf", body)
	if err != nil {
		return err
	}
	if s.json || !reply.OK() {
		return s.showAnswers(s.env, reply)
	}
	s.note("%s", strings.Join(notes, ""))
	return nil
}

// removeUsers is -du: users out of access lists.
func removeUsers(s *session, w []string) error {
	return s.changeUsers(w, nil, func(u *grid.Userset, user string) (note string, err error) {
		n := slices.Index(u.Entries, user)
		if n < 0 {
			return "", unknown(grid.KindUserset, u.Name, refuse("user %q is not in access list %q", user, u.Name))
		}
		u.Entries = slices.Delete(u.Entries, n, n+1)
		return fmt.Sprintf("deleted user %q from access list %q\n", user, u.Name), nil
	})
}
