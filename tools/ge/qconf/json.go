package qconf

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/view"
)

// oneDocument returns why a command line cannot be answered with one document, nil when it can: it may show one thing,
// or change several, but has no use for an editor.
func (l *commandLine) oneDocument() error {
	for _, s := range l.steps {
		if s.mode == edits {
			return switches.Errorf("error: -fmt json is not supported with -%s, which starts an editor; -%s reads a file",
				s.name, strings.ToUpper(s.name[:1])+s.name[1:])
		}
	}
	if n := slices.IndexFunc(l.steps, func(s step) bool { return s.mode == shows }); n >= 0 && len(l.steps) > 1 {
		other := l.steps[0]
		if n == 0 {
			other = l.steps[1]
		}
		return switches.Errorf("error: -fmt json prints one document, but -%s and -%s are two", l.steps[n].name, other.name)
	}
	return nil
}

// unknown says of an error that there is no object of that name.
func unknown(kind grid.Kind, name string, err error) error {
	return refusalAbout(kind, name, gdi.StatusUnknown, err)
}

// refusalAbout says of an error which object it is about.
func refusalAbout(kind grid.Kind, name string, status gdi.Status, err error) error {
	return &gdi.Refusal{Answer: gdi.Deny(status, err.Error()).On(gdi.Subject{Kind: kind, Name: name}), Cause: err}
}

// invalid says of an error that it is about what the user has written.
func invalid(err error) error {
	return &gdi.Refusal{Answer: gdi.Deny(gdi.StatusInvalid, err.Error()), Cause: err}
}

// showObjects shows configuration objects of a kind.
func (s *session) showObjects(kind grid.Kind, list []document.Shown) error {
	if !s.json {
		s.print(s.text(kind, list))
		return nil
	}
	complex, err := client.Fetch(s.ctx, s, gdi.Get{Kinds: []grid.Kind{grid.KindCentry}})
	if err == nil {
		s.shown = document.ObjectsOf(view.Of(complex), kind, list)
	}
	return err
}

// shownOf returns objects of which nothing but their attributes is shown.
func shownOf(list ...grid.Object) (out []document.Shown) {
	for _, o := range list {
		out = append(out, document.Shown{Object: o})
	}
	return out
}
