package opttest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/tools/manual"
)

// IsDocument reports whether output begins as documents do. qconf prints quota sets in braces, qevent
// a JSON object a line.
func IsDocument(output string) bool { return strings.HasPrefix(output, "{\n\"") }

// CheckDocument returns an error when output is no document that matches the schema in the manual that it
// names.
func CheckDocument(output string) error {
	var instance map[string]any
	if err := json.Unmarshal([]byte(output), &instance); err != nil {
		return err
	}
	id, _ := instance["$id"].(string)
	text, err := manual.File(id[strings.LastIndexByte(id, ':')+1:] + ".schema.json")
	if err != nil {
		return err
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	if err := resolved.Validate(instance); err != nil {
		return fmt.Errorf("%s does not match its schema: %w\n%s", id, err, output)
	}
	return nil
}

// Schema returns the JSON Schema of a document, made from its type.
func Schema(d document.Document) ([]byte, error) {
	t := reflect.TypeOf(d)
	number, boolean, text := &jsonschema.Schema{Type: "number"}, &jsonschema.Schema{Type: "boolean"},
		&jsonschema.Schema{Type: "string"}
	options := &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
		reflect.TypeFor[document.Value]():  {AnyOf: []*jsonschema.Schema{number, boolean, text}},
		reflect.TypeFor[document.Amount](): {AnyOf: []*jsonschema.Schema{number, text}},
		reflect.TypeFor[document.Parameter](): {
			AnyOf: []*jsonschema.Schema{number, boolean, text, {Type: "array", Items: text}}},
	}}
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			continue
		}
		rows, ok := reflect.ValueOf(d).Field(i).Interface().(interface{ Element() reflect.Type })
		if !ok {
			continue
		}
		element, err := jsonschema.ForType(rows.Element(), options)
		if err != nil {
			return nil, err
		}
		options.TypeSchemas[t.Field(i).Type] = &jsonschema.Schema{Type: "array", Items: element}
	}
	s, err := jsonschema.ForType(t, options)
	if err != nil {
		return nil, err
	}
	if document.Partial(d) {
		failed, err := jsonschema.For[[]document.RequestError](options)
		if err != nil {
			return nil, err
		}
		failed.Description = "what was requested and is not in the document; absent: nothing"
		s.Properties["errors"] = failed
		s.PropertyOrder = append(s.PropertyOrder, "errors")
	}
	withoutNull(s)
	constant := func(v string) *jsonschema.Schema { return &jsonschema.Schema{Const: jsonschema.Ptr[any](v)} }
	s.Properties["$schema"], s.Properties["$id"] = constant(document.Dialect), constant(document.ID(d))
	s.PropertyOrder = append([]string{"$schema", "$id"}, s.PropertyOrder...)
	s.Required = append([]string{"$schema", "$id"}, s.Required...)
	s.Schema, s.ID, s.Title = document.Dialect, document.ID(d), d.SchemaName()
	out, err := json.MarshalIndent(s, "", "  ")
	return append(out, '\n'), err
}

// withoutNull removes null from the types: documents do not contain it.
func withoutNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	for _, t := range s.Types {
		if t != "null" {
			s.Type = t
		}
	}
	s.Types = nil
	for _, p := range s.Properties { // order: each by itself
		withoutNull(p)
	}
	withoutNull(s.Items)
	withoutNull(s.AdditionalProperties)
}
