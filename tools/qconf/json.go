package qconf

import (
	"errors"
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
func (l *line) oneDocument() error {
	for _, s := range l.steps {
		if s.mode == edits {
			return switches.Errorf("error: -fmt json is not supported with -%s, which starts an editor; -%s reads a file", s.name, strings.ToUpper(s.name[:1])+s.name[1:])
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

// coded is an error with what a document says of it.
type coded struct {
	error
	about  document.Subject
	status gdi.Status
}

func (c coded) Unwrap() error { return c.error }

// unknown says of an error that there is no object of that name.
func unknown(kind grid.Kind, name string, err error) error {
	return coded{err, document.OnObject(kind, name), gdi.StatusUnknown}
}

// invalid says of an error that it is about what the user has written.
func invalid(err error) error { return coded{error: err, status: gdi.StatusInvalid} }

// requestError is an error of this command in a document.
func requestError(err error) document.RequestError {
	out := document.RequestError{Code: "failed", Text: err.Error()}
	var c coded
	var r refusal
	var away *client.Unreachable
	switch {
	case errors.As(err, &c):
		out.Subject, out.Code = c.about, c.status.Code()
	case errors.As(err, &r):
		out.Code = gdi.StatusInvalid.Code()
	case errors.As(err, &away):
		out.Code = gdi.StatusNoDaemon.Code()
	}
	return out
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
