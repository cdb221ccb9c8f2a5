package site

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/state"
)

// members is a userset as a lookup table: user names and @group names.
type members map[string]bool

// Contains reports whether a user or the user's group is a member; nil has no members.
func (m *members) Contains(user, group string) bool {
	return m != nil && ((*m)[user] || (group != "" && (*m)["@"+group]))
}

// resolveAccess prepares the usersets and notes which of them matter.
func (l *Layout) resolveAccess(st *state.State) {
	st.Each(grid.KindUserset, func(o grid.Object) bool {
		u := o.(*grid.Userset)
		m := make(members, len(u.Entries))
		for _, e := range u.Entries {
			m[e] = true
		}
		l.Sets[u.Name] = &m
		return true
	})
	refer := func(lists ...grid.Names) {
		for _, names := range lists {
			l.Referred = append(l.Referred, names...)
		}
	}
	for _, in := range l.Instances {
		refer(in.Users, in.XUsers)
		l.Projects = l.Projects || len(in.Projects)+len(in.XProjects) > 0
	}
	for _, h := range l.Hosts {
		if h.Exec != nil {
			refer(h.Exec.UserLists, h.Exec.XUserLists)
			l.Projects = l.Projects || len(h.Exec.Projects)+len(h.Exec.XProjects) > 0
		}
	}
	for _, pe := range l.PEs {
		refer(pe.UserLists, pe.XUserLists)
	}
	slices.Sort(l.Referred)
	l.Referred = slices.Compact(l.Referred)
}

// Permits reports whether lists let the user in: one of the excluding ones
// forbids; when there are including ones, one of them must have the user.
func (l *Layout) Permits(user, group string, lists, xlists grid.Names) bool {
	for _, n := range xlists {
		if l.Sets[n].Contains(user, group) {
			return false
		}
	}
	for _, n := range lists {
		if l.Sets[n].Contains(user, group) {
			return true
		}
	}
	return len(lists) == 0
}

func truth(b bool) string {
	if b {
		return "TRUE"
	}
	return "FALSE"
}

// WhyNotProject returns why a job of the project may not use the object.
func WhyNotProject(project, what, object string, projects, xprojects grid.Names) reason.Reason {
	if project != "" && xprojects.Has(project) {
		return reason.Reason{Code: reason.ProjectExcluded, Object: object, What: what, Offer: project}
	}
	if len(projects) > 0 && !projects.Has(project) {
		if project == "" {
			return reason.Reason{Code: reason.ProjectMissing, Object: object, What: what}
		}
		return reason.Reason{Code: reason.ProjectWrong, Object: object, What: what, Offer: project}
	}
	return reason.Reason{}
}
