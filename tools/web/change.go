package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/mirror"
	"github.com/quill-grid/quill/tools/web/problem"
)

// ConfigText is a configuration object as it is to be.
type ConfigText struct {
	Attributes map[string]setting `json:"attributes,omitempty" doc:"these attributes get these values, as GET /v1/kinds/{kind} describes them or as texts of qconf; the others stay, or are those of qconf -aX for a new object"`
	Text       string             `json:"text,omitempty" doc:"the whole object as qconf prints and reads it; excludes attributes"`
	Version    uint32             `json:"version,omitempty" doc:"the version that is to be replaced; when it is another one by now nothing is changed"`
}

// setting is the JSON of a value of an attribute.
type setting []byte

// UnmarshalJSON keeps the JSON.
func (s *setting) UnmarshalJSON(b []byte) error {
	*s = bytes.Clone(b)
	return nil
}

// MarshalJSON returns it.
func (s setting) MarshalJSON() ([]byte, error) { return s, nil }

// Schema lets every value pass: conf.SetJSON reads it.
func (setting) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// settingOf is the setting of a text. Of a parameter of an algorithm, whose name has a dot, it is the list of its
// lines, or null without any: the default.
func settingOf(name, text string) setting {
	var v any = text
	if strings.Contains(name, ".") {
		v = nil
		if text != "" {
			v = strings.Split(text, "\n")
		}
	}
	b, _ := json.Marshal(v) // texts have JSON
	return b
}

// ConfigObject is a ConfigText with its name.
type ConfigObject struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	ConfigText
}

// ConfigName names a configuration object.
type ConfigName struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Validating is what every change of the configuration may have.
type Validating struct {
	Validate bool `query:"validate" doc:"check only, with the rules of qmaster, on a copy of the state: nothing is changed, and the messages say what would be"`
}

func (s *handlers) registerConfigWriting() {
	configured := func(method, path, id, summary string) huma.Operation {
		return operation(method, path, id, "configuration", summary)
	}
	huma.Register(s.api, configured(http.MethodPut, "/v1/config/{kind}/{name}", "put-config",
		"Add or change a configuration object, as qconf"), func(ctx context.Context, in *struct {
		Validating
		ObjectPath
		Body ConfigText
	},
	) (*change[Result], error) {
		return s.changeConfig(ctx, &in.Validating, "body", []ConfigObject{{in.Kind, in.Name, in.Body}}, nil)
	})
	huma.Register(s.api, configured(http.MethodDelete, "/v1/config/{kind}/{name}", "delete-config",
		"Delete a configuration object, as qconf"), func(ctx context.Context, in *struct {
		Validating
		ObjectPath
	},
	) (*change[Result], error) {
		return s.changeConfig(ctx, &in.Validating, "path", nil, []ConfigName{{in.Kind, in.Name}})
	})
	huma.Register(s.api, configured(http.MethodPost, "/v1/config", "change-config",
		"Change several configuration objects in one transaction: all or none"), func(ctx context.Context, in *struct {
		Validating
		Body struct {
			Put    array[ConfigObject] `json:"put,omitempty" doc:"objects to add or change" maxItems:"10000"`
			Delete array[ConfigName]   `json:"delete,omitempty" doc:"objects to delete, of one kind; before the others are changed" maxItems:"10000"`
		}
	},
	) (*change[Result], error) {
		return s.changeConfig(ctx, &in.Validating, "body.put", in.Body.Put.items, in.Body.Delete.items)
	})
}

// changeConfig makes one request of all changes. where is the field of the objects.
func (s *handlers) changeConfig(
	ctx context.Context, in *Validating, where string, put []ConfigObject, remove []ConfigName,
) (*change[Result], error) {
	at, err := s.mirror.Now()
	if err != nil {
		return nil, problem.NoMirror(err)
	}
	body := &gdi.Change{}
	for i, p := range put {
		path := where
		if where == "body.put" {
			path = fmt.Sprintf("body.put[%d]", i)
		}
		o, there, err := p.build(at, path)
		if err != nil {
			return nil, err
		}
		if there {
			body.Modify = append(body.Modify, o)
		} else {
			body.Add = append(body.Add, o)
		}
	}
	for i, name := range remove {
		field := pathKind
		if where != "path" {
			field = fmt.Sprintf("body.delete[%d].kind", i)
		}
		spec, err := specOf(name.Kind, field)
		if err != nil {
			return nil, err
		}
		if i > 0 && body.Delete.Kind != spec.Kind {
			return nil, problem.Invalid(field, errors.New("all objects to delete are of one kind"))
		}
		body.Delete.Kind = spec.Kind
		body.Delete.Keys = append(body.Delete.Keys, grid.Key{Name: name.Name})
	}
	if len(put)+len(remove) == 0 {
		return nil, problem.Invalid("body", errors.New("there is nothing to change"))
	}
	reply, err := s.decideChange(ctx, in, at, body, func(a gdi.Answer) string { return locationOf(a, where, put, remove) })
	if err != nil {
		return nil, err
	}
	return &change[Result]{Sequence: reply.Seq, Body: resultOf(reply)}, nil
}

// locationOf returns the field of an answer; "": it is about none.
func locationOf(a gdi.Answer, where string, put []ConfigObject, remove []ConfigName) string {
	if a.About == nil || grid.SpecOf(a.About.Kind) == nil {
		return ""
	}
	kind := strings.ToLower(grid.SpecOf(a.About.Kind).Name)
	for i, o := range put {
		if o.Kind != kind || o.Name != a.About.Name {
			continue
		}
		if where == "body.put" {
			where = fmt.Sprintf("body.put[%d]", i)
		}
		if _, has := o.Attributes[a.Field]; has {
			return where + ".attributes." + a.Field
		}
		if a.Status == gdi.StatusInvalid && o.Text != "" {
			return where + ".text"
		}
		named := slices.DeleteFunc(slices.Collect(maps.Keys(o.Attributes)),
			func(name string) bool { return !strings.Contains(a.Text, name) })
		if len(named) == 1 {
			return where + ".attributes." + named[0]
		}
		return where
	}
	for i, o := range remove {
		if o.Kind == kind && o.Name == a.About.Name && where != "path" {
			return fmt.Sprintf("body.delete[%d]", i)
		}
	}
	if where == "path" {
		return ifUnknown(a, "path.name")
	}
	return ""
}

// decideChange has qmaster decide, or for a validation its core on a copy of the state.
func (s *handlers) decideChange(
	ctx context.Context, in *Validating, at mirror.Moment, body *gdi.Change, where func(gdi.Answer) string,
) (gdi.Reply, error) {
	var request gdi.Body = body
	if len(body.Add)+len(body.Modify) == 0 && len(body.Delete.Keys) == 1 { // the same, with Grid Engine's message
		request = &body.Delete
	}
	if !in.Validate {
		return s.sendRequest(ctx, "qconf", request, where)
	}
	c := core.New(at.State.Copy(), 0)
	r := gdi.Request{User: entry.AccountOf(ctx).User(), Host: s.adminHost(at), Command: "qconf", Body: request}
	if err := r.Complete(); err != nil {
		return gdi.Reply{}, problem.Invalid("body", err)
	}
	for _, a := range c.Step(grid.TimeOf(s.options.Now()), core.UserRequest{Request: r}).Answers {
		if a.Reply != nil {
			return gdi.Reply{Answers: foreseenOf(a.Reply.Answers)}, problem.OfReply(*a.Reply, where)
		}
	}
	return gdi.Reply{}, problem.New(http.StatusServiceUnavailable, problem.TypeBusy, "",
		"the change cannot be checked now")
}

// foreseenOf returns the answers of a validation: what the request would do. Those of the core say that it was done, by
// a user at the host of adminHost.
func foreseenOf(answers []gdi.Answer) []gdi.Answer {
	out := []gdi.Answer{gdi.Done("nothing was changed: the request was validated only")}
	for _, a := range answers {
		if o := a.About; o != nil && grid.SpecOf(o.Kind) != nil {
			a.Text = fmt.Sprintf("%s %q would be %s", strings.ToLower(grid.SpecOf(o.Kind).Name), o.Name, o.Did)
		}
		out = append(out, a)
	}
	return out
}

// adminHost is a host from which the configuration may be changed; a validation is for what is to be sent from here.
func (s *handlers) adminHost(at mirror.Moment) (name string) {
	at.State.Each(grid.KindAdminHost, func(o grid.Object) bool {
		name = o.Key().Name
		return false
	})
	return name
}

// build returns the object as it is to be, and whether there is one now. The error is a problem.
func (p *ConfigObject) build(at mirror.Moment, where string) (o grid.Object, there bool, err error) {
	field := pathKind
	if where != "body" {
		field = where + ".kind"
	}
	spec, err := specOf(p.Kind, field)
	if err != nil {
		return nil, false, err
	}
	old := at.State.Get(spec.Kind, grid.Key{Name: p.Name})
	switch {
	case p.Text != "" && len(p.Attributes) > 0:
		return nil, false, problem.Invalid(where+".text", errors.New("an object has text or attributes"))
	case p.Text != "":
		if o, err = p.parseText(spec); err != nil {
			return nil, false, problem.Invalid(where+".text", err)
		}
	default:
		if o, err = p.setAttributes(spec, old, where); err != nil {
			return nil, false, err
		}
	}
	if name := o.Key().Name; name != p.Name {
		return nil, false, problem.Invalid(where, fmt.Errorf("the object is called %q, not %q", name, p.Name))
	}
	version := p.Version
	if version == 0 && p.Text == "" && old != nil {
		version = grid.Version(old) // the other attributes are those of this version
	}
	grid.SetVersion(o, version)
	return o, old != nil, nil
}

// newObject is an object of this name without any settings.
func (p *ConfigObject) newObject(spec *grid.Spec) (grid.Object, error) {
	if o := grid.Default(spec.Kind, p.Name); o != nil {
		return o, nil
	}
	o := spec.New()
	return o, conf.Parse(p.Name, o)
}

func (p *ConfigObject) parseText(spec *grid.Spec) (grid.Object, error) {
	o, err := p.newObject(spec)
	if err != nil {
		return nil, err
	}
	if _, named := o.(*grid.Conf); !named {
		o = spec.New()
	}
	return o, conf.Parse(p.Text, o)
}

// setAttributes returns the object with the attributes. The error is a problem.
func (p *ConfigObject) setAttributes(spec *grid.Spec, old grid.Object, where string) (o grid.Object, err error) {
	if o = old; o == nil {
		if o, err = p.newObject(spec); err != nil {
			return nil, problem.Invalid(where+".name", err)
		}
	}
	if len(p.Attributes) == 0 && old != nil {
		return nil, problem.Invalid(where+".attributes", errors.New("there is nothing to change"))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Attributes)) {
		if o, err = conf.SetJSON(o, name, p.Attributes[name]); err != nil {
			return nil, problem.Invalid(where+".attributes."+name, err)
		}
	}
	return o, nil
}
