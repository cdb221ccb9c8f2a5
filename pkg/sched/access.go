package sched

import (
	"slices"
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// members is a userset as a lookup table: user names and @group names.
type members map[string]bool

func (m *members) contains(user, group string) bool {
	return m != nil && ((*m)[user] || (group != "" && (*m)["@"+group]))
}

// resolveAccess prepares the usersets and notes which of them matter.
func (l *layout) resolveAccess(st *state.State) {
	st.Each(grid.KindUserset, func(o grid.Object) bool {
		u := o.(*grid.Userset)
		m := make(members, len(u.Entries))
		for _, e := range u.Entries {
			m[e] = true
		}
		l.sets[u.Name] = &m
		return true
	})
	refer := func(lists ...grid.Names) {
		for _, names := range lists {
			l.referred = append(l.referred, names...)
		}
	}
	for _, in := range l.instances {
		refer(in.users, in.xusers)
		l.projects = l.projects || len(in.projects)+len(in.xproj) > 0
	}
	for _, h := range l.hosts {
		if h.exec != nil {
			refer(h.exec.UserLists, h.exec.XUserLists)
			l.projects = l.projects || len(h.exec.Projects)+len(h.exec.XProjects) > 0
		}
	}
	for _, pe := range l.pes {
		refer(pe.UserLists, pe.XUserLists)
	}
	slices.Sort(l.referred)
	l.referred = slices.Compact(l.referred)
}

// permits reports whether lists let the user in: one of the excluding ones
// forbids; when there are including ones, one of them must have the user.
func (l *layout) permits(user, group string, lists, xlists grid.Names) bool {
	for _, n := range xlists {
		if l.sets[n].contains(user, group) {
			return false
		}
	}
	for _, n := range lists {
		if l.sets[n].contains(user, group) {
			return true
		}
	}
	return len(lists) == 0
}

// project reports whether a job of the project may use the object.
func projectReason(project, what, object string, projects, xprojects grid.Names) Reason {
	if project != "" && xprojects.Has(project) {
		return Reason{Code: ProjectExcluded, Object: object, What: what, Offer: project}
	}
	if len(projects) > 0 && !projects.Has(project) {
		if project == "" {
			return Reason{Code: ProjectMissing, Object: object, What: what}
		}
		return Reason{Code: ProjectWrong, Object: object, What: what, Offer: project}
	}
	return Reason{}
}

func itoa(n int) string { return strconv.Itoa(n) }

func truth(b bool) string {
	if b {
		return "TRUE"
	}
	return "FALSE"
}
