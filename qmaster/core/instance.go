package core

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// The health of single instances of resource maps: an administrator takes one out of service,
// or a load sensor reports that it does not work.

// controlInstance is qmod -d, -e and -c of an instance; it is nil when the reference is none.
func (s *step) controlInstance(r gdi.Request, b *gdi.Control, ref string) []gdi.Answer {
	want, ok := grid.ParseInstance(ref)
	e := s.cell.Centry(want.Resource)
	if !ok || e == nil || e.Type != grid.TypeMap {
		return nil
	}
	want.Resource = e.Name
	if !s.cell.HasInstance(&want) {
		return []gdi.Answer{gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("denied: host %q has no instance %q of %q", want.Host,
			want.ID, want.Resource))}
	}
	if !s.cell.IsOperator(r) {
		return []gdi.Answer{
			gdi.Deny(gdi.StatusDenied, fmt.Sprintf("%s - you have no permission to modify instance %q", r.User, want.Name()))}
	}
	is := s.cell.HealthOf(want)
	word := ""
	switch b.Action {
	case "disable":
		is.Disabled, word = true, "disabled"
	case "enable":
		is.Disabled, word = false, "enabled"
	case "clear":
		is.Failed, is.Message, word = false, "", "no error"
	default:
		return []gdi.Answer{gdi.Deny(gdi.StatusInvalid,
			fmt.Sprintf("denied: instance %q can be disabled, enabled and cleared only", want.Name()))}
	}
	if !s.setHealth(is) {
		return []gdi.Answer{gdi.Done(fmt.Sprintf("Instance %q is already in the specified state: %s", is.Name(), word))}
	}
	return []gdi.Answer{gdi.Done(fmt.Sprintf("%s@%s changed state of %q (%s)", r.User, r.Host, is.Name(), word))}
}

// setHealth stores what is wrong with an instance, and reports whether that is news.
func (s *step) setHealth(i grid.Instance) bool {
	old, known := s.state.Get(grid.KindInstance, i.Key()).(*grid.Instance)
	switch bad := i.Disabled || i.Failed; {
	case !known && !bad, known && *old == i:
		return false
	case !bad:
		s.emit(events.Del(grid.KindInstance, i.Key()))
	case known:
		s.emit(events.Mod(&i))
	default:
		s.emit(events.Add(&i))
	}
	return true
}

// storeSensedHealth takes the states of instances from a host's load values: gpu.GPU3.state is "E reason" for
// one that does not work, and anything else for one that does.
func (s *step) storeSensedHealth(host string, values grid.Values) {
	for _, v := range values {
		name, is := strings.CutSuffix(v.Name, ".state")
		resource, id, dotted := strings.Cut(name, ".")
		e := s.state.Centry(resource)
		i := grid.Instance{Resource: resource, ID: id, Host: host}
		if !is || !dotted || e == nil || e.Type != grid.TypeMap || !s.cell.HasInstance(&i) {
			continue
		}
		i = s.cell.HealthOf(i)
		state, message, _ := strings.Cut(v.Text, " ")
		if i.Failed, i.Message = state == "E", ""; i.Failed {
			i.Message = grid.Printable(strings.TrimSpace(message))
		}
		s.setHealth(i)
	}
}

// forgetInstances removes the states of instances that a host does not have any more.
func (s *step) forgetInstances(host string) {
	for _, o := range s.cell.All(grid.KindInstance) {
		if i := o.(*grid.Instance); i.Host == host && !s.cell.HasInstance(i) {
			s.emit(events.Del(grid.KindInstance, i.Key()))
		}
	}
}
