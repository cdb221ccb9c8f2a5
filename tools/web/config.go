package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
)

// configKinds are the kinds of configuration objects, by the name that paths have for them: that of events in small letters.
var configKinds = func() (names []string, kinds map[string]*grid.Spec) {
	kinds = map[string]*grid.Spec{}
	for i := range grid.Kinds {
		if s := &grid.Kinds[i]; s.Configured() {
			name := strings.ToLower(s.Name)
			names, kinds[name] = append(names, name), s
		}
	}
	slices.Sort(names)
	return names, kinds
}

// KindPath is the part {kind} of a path.
type KindPath struct {
	Kind string `path:"kind" doc:"kind of the objects"`
}

// spec returns the row of the kind. The error is a problem.
func (p KindPath) spec() (*grid.Spec, error) {
	names, kinds := configKinds()
	if s := kinds[p.Kind]; s != nil {
		return s, nil
	}
	return nil, problem(http.StatusNotFound, problemUnknown, "path.kind", fmt.Sprintf("there is no kind %q; there are %s", p.Kind, strings.Join(names, ", ")))
}

// Config is a configuration object.
type Config struct {
	Kind    string `json:"kind"`
	Name    string `json:"name" doc:"name or host; global of the cell's configuration"`
	Version uint32 `json:"version,omitempty" doc:"rises with each change by a user; absent for kinds without one"`
	// Attributes are the lines of Text that are attributes.
	Attributes map[string]string `json:"attributes" doc:"attributes and their values as qconf prints them; empty for kinds that consist of a name"`
	Text       string            `json:"text" doc:"the object as qconf prints and reads it"`
}

func configOf(spec *grid.Spec, o grid.Object) Config {
	c := Config{Kind: strings.ToLower(spec.Name), Name: o.Key().Name, Version: grid.Version(o), Attributes: map[string]string{}, Text: conf.EditText(o)}
	for _, name := range conf.Attributes(spec.Kind) {
		if text, ok := conf.Get(o, name); ok {
			c.Attributes[name] = text
		}
	}
	if of, ok := o.(*grid.Conf); ok {
		for _, v := range of.Entries {
			c.Attributes[v.Name] = v.Text
		}
	}
	return c
}

// configOrder is by name.
func configOrder(spec *grid.Spec) ordering[grid.Object, string] {
	return ordering[grid.Object, string]{
		of:      "config " + spec.Name,
		compare: func(a, b grid.Object) int { return cmp.Compare(a.Key().Name, b.Key().Name) },
		key:     func(o grid.Object) string { return o.Key().Name },
		row:     func(name string) grid.Object { return named(name) },
	}
}

// named is an object of which only the name is known.
type named string

func (n named) Kind() grid.Kind { return 0 }
func (n named) Key() grid.Key   { return grid.Key{Name: string(n)} }

func (s *Server) registerConfig() {
	list(s, operation(http.MethodGet, "/v1/config/{kind}", "list-config", "configuration", "Configuration objects of a kind"),
		func(_ context.Context, in *struct {
			Reading
			Paging
			KindPath
		}, at moment, all bool,
		) (rows[Config], error) {
			spec, err := in.spec()
			if err != nil {
				return rows[Config]{}, err
			}
			objects := func(yield func(grid.Object) bool) { at.state.Each(spec.Kind, yield) }
			kept, next, err := configOrder(spec).page(&in.Paging, all, objects)
			return rows[Config]{items: func(yield func(Config) bool) {
				for _, o := range kept {
					if !yield(configOf(spec, o)) {
						return
					}
				}
			}, next: next}, err
		})
	show(s, operation(http.MethodGet, "/v1/config/{kind}/{name}", "get-config", "configuration", "A configuration object"),
		func(_ context.Context, in *struct {
			Reading
			ObjectPath
		}, at moment,
		) (Config, error) {
			spec, err := in.spec()
			if err != nil {
				return Config{}, err
			}
			o := at.state.Get(spec.Kind, in.key())
			if o == nil {
				return Config{}, problem(http.StatusNotFound, problemUnknown, "path.name", fmt.Sprintf("%s %q does not exist", spec.Noun, in.Name))
			}
			return configOf(spec, o), nil
		})
}

// ObjectPath is the part {kind}/{name} of a path.
type ObjectPath struct {
	KindPath
	Name string `path:"name" doc:"name of the object; schedconf and sharetree where there is one"`
}

func (p ObjectPath) key() grid.Key { return grid.Key{Name: p.Name} }
