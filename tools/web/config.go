package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/manual"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/problem"
)

// configKinds are the kinds of configuration objects, by the name that paths have for them: that of events in small
// letters.
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
func (p KindPath) spec() (*grid.Spec, error) { return specOf(p.Kind, pathKind) }

// pathKind is the location of the kind in a path.
const pathKind = "path.kind"

// specOf returns the row of a kind that a field of the request names. The error is a problem.
func specOf(kind, field string) (*grid.Spec, error) {
	names, kinds := configKinds()
	s, text := kinds[kind], fmt.Sprintf("there is no kind %q; there are %s", kind, strings.Join(names, ", "))
	switch {
	case s != nil:
		return s, nil
	case field == pathKind:
		return nil, problem.New(http.StatusNotFound, problem.TypeUnknown, field, text)
	}
	return nil, problem.Invalid(field, errors.New(text))
}

// Config is a configuration object.
type Config struct {
	Kind       string     `json:"kind"`
	Name       string     `json:"name" doc:"name or host; global of the cell's configuration"`
	Version    uint32     `json:"version,omitempty" doc:"rises with each change by a user; absent for kinds without one"`
	Attributes attributes `json:"attributes" doc:"attributes and their values, as GET /v1/kinds/{kind} describes them; empty for kinds that consist of a name"`
	Text       string     `json:"text" doc:"the object as qconf prints and reads it"`
}

// attributes are the values of an object by attribute, with the types of qconf -fmt json.
type attributes struct{ values any }

// MarshalJSON returns the values.
func (a attributes) MarshalJSON() ([]byte, error) { return json.Marshal(a.values) }

// Schema makes them an object.
func (attributes) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// configsOf returns what makes the rows of objects of a kind.
func configsOf(spec *grid.Spec, at mirror.Moment) func(grid.Object) Config {
	kind, values := strings.ToLower(spec.Name), document.Attributes(at.View(), spec.Kind)
	return func(o grid.Object) Config {
		return Config{Kind: kind, Name: o.Key().Name, Version: grid.Version(o), Attributes: attributes{values(o)},
			Text: conf.EditText(o)}
	}
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

func (s *handlers) registerConfig() {
	registerListing(s, operation(http.MethodGet, "/v1/config/{kind}", "list-config", "configuration",
		"Configuration objects of a kind"),
		func(_ context.Context, in *struct {
			Reading
			Paging
			KindPath
		}, at mirror.Moment, all bool,
		) (rows[Config], error) {
			spec, err := in.spec()
			if err != nil {
				return rows[Config]{}, err
			}
			objects := func(yield func(grid.Object) bool) { at.State.Each(spec.Kind, yield) }
			kept, next, err := configOrder(spec).page(&in.Paging, all, objects)
			row := configsOf(spec, at)
			return rows[Config]{items: func(yield func(Config) bool) {
				for _, o := range kept {
					if !yield(row(o)) {
						return
					}
				}
			}, next: next}, err
		})
	registerObject(s, operation(http.MethodGet, "/v1/config/{kind}/{name}", "get-config", "configuration",
		"A configuration object"),
		func(_ context.Context, in *struct {
			Reading
			ObjectPath
		}, at mirror.Moment,
		) (Config, error) {
			spec, err := in.spec()
			if err != nil {
				return Config{}, err
			}
			o := at.State.Get(spec.Kind, in.key())
			if o == nil {
				return Config{}, problem.New(http.StatusNotFound, problem.TypeUnknown, "path.name",
					fmt.Sprintf("%s %q does not exist", spec.Noun, in.Name))
			}
			return configsOf(spec, at)(o), nil
		})
}

// Kind is a kind of configuration objects.
type Kind struct {
	Kind       string          `json:"kind"`
	Noun       string          `json:"noun" doc:"what messages call an object of the kind"`
	Attributes *map[string]any `json:"attributes,omitempty" doc:"JSON Schema of the attributes; absent in the list, and for kinds that consist of a name"`
}

// Kinds is the list of all.
type Kinds struct {
	Items []Kind `json:"items"`
}

func (s *handlers) registerKinds() {
	kinds := operation(http.MethodGet, "/v1/kinds", "list-kinds", "configuration", "Kinds of configuration objects")
	registerObject(s, kinds, func(_ context.Context, _ *struct{ Reading }, _ mirror.Moment) (Kinds, error) {
		var out Kinds
		names, specs := configKinds()
		for _, name := range names {
			out.Items = append(out.Items, Kind{Kind: name, Noun: specs[name].Noun})
		}
		return out, nil
	})
	one := operation(http.MethodGet, "/v1/kinds/{kind}", "get-kind", "configuration",
		"A kind of configuration objects, with the schema of its attributes")
	one.Description =
		"The schema describes the attributes in answers. In a request each of them may also be the text that qconf prints, such as 4G or 1:0:0, and an " +
			"attribute that has an object with value and at may be the value alone: then it holds for all hosts."
	registerObject(s, one, func(_ context.Context, in *struct {
		Reading
		KindPath
	}, _ mirror.Moment,
	) (Kind, error) {
		spec, err := in.spec()
		if err != nil {
			return Kind{}, err
		}
		return Kind{Kind: in.Kind, Noun: spec.Noun, Attributes: attributeSchema(spec)}, nil
	})
}

// attributeSchema returns the JSON Schema of the attributes of a kind: that of qconf -fmt json in the manual, without
// what qconf shows beside them.
func attributeSchema(spec *grid.Spec) *map[string]any {
	text, err := manual.File("qconf-" + strings.ToLower(spec.Name) + ".schema.json")
	if err != nil || len(conf.Attributes(spec.Kind)) == 0 && spec.Kind != grid.KindConf { // sharetree has text only
		return nil
	}
	var whole struct {
		Properties struct {
			Objects struct {
				Items map[string]any `json:"items"`
			} `json:"objects"`
		} `json:"properties"`
	}
	if json.Unmarshal([]byte(text), &whole) != nil {
		return nil
	}
	schema := whole.Properties.Objects.Items
	members, _ := schema["properties"].(map[string]any)
	if spec.Kind == grid.KindConf {
		schema, _ = members["parameters"].(map[string]any)
		return &schema
	}
	required, _ := schema["required"].([]any)
	for _, name := range besideAttributes[spec.Kind] {
		delete(members, name)
		required = slices.DeleteFunc(required, func(other any) bool { return other == name })
	}
	schema["required"] = required
	return &schema
}

// besideAttributes are the members of the rows of qconf -fmt json that are no attributes.
var besideAttributes = map[grid.Kind][]string{grid.KindCQueue: {"hostname"},
	grid.KindExecHost: {"load_values", "processors"}}

// ObjectPath is the part {kind}/{name} of a path.
type ObjectPath struct {
	KindPath
	Name string `path:"name" doc:"name of the object; schedconf and sharetree where there is one"`
}

func (p ObjectPath) key() grid.Key { return grid.Key{Name: p.Name} }
