package web

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/tools/web/problem"
)

// Lists are never null, in requests and answers: an empty one is [].
func init() { huma.DefaultArrayNullable = false }

// schemaNames are the names of schemas of types that do not have their own: of two packages, or generic ones.
var schemaNames = map[reflect.Type]string{
	reflect.TypeFor[Ended]():            "Ended",
	reflect.TypeFor[accounting.Usage](): "EndedUsage",
}

func schemaName(t reflect.Type, hint string) string {
	if name, has := schemaNames[t]; has {
		return name
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// describe adds what huma does not read: the problems of requests, and the comments of the rows of pkg/document.
func describe(api *huma.OpenAPI) {
	for _, r := range routes(api) {
		r.Responses["4XX"] = r.Responses["default"]
	}
	schemas := api.Components.Schemas
	for name, schema := range schemas.Map() {
		t := schemas.TypeFromRef("#/components/schemas/" + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for _, f := range reflect.VisibleFields(t) {
			member, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if p := schema.Properties[member]; p != nil && p.Ref == "" && p.Description == "" {
				p.Description = f.Tag.Get("jsonschema")
			}
		}
	}
}

//go:embed page
var files embed.FS

var pageTemplate = template.Must(template.New("docs.html").Funcs(template.FuncMap{
	"type": typeName, "status": func(s string) string { return strings.TrimSpace(s) },
}).ParseFS(files, "page/docs.html"))

// typeName returns how the page names a schema.
func typeName(s *huma.Schema) string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	case s.Type == huma.TypeArray:
		return "list of " + typeName(s.Items)
	case s.Format != "":
		return s.Type + " (" + s.Format + ")"
	case s.Type == "":
		return "any"
	}
	return s.Type
}

// route is an operation as the page shows it.
type route struct {
	Method, Path string
	*huma.Operation
}

// pageSecurity is the header Content-Security-Policy of pages: they have a style and no script.
const pageSecurity = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pages serves the description of the API, and the page that shows it: without a script, as nothing in it changes. Each
// is made when it is first asked for.
func pages(mux *http.ServeMux, api *huma.OpenAPI) {
	for path, file := range map[string]struct {
		contentType string
		make        func() ([]byte, error)
	}{
		"/v1/openapi.json": {"application/openapi+json", func() ([]byte, error) { return json.Marshal(api) }},
		"/v1/openapi.yaml": {"application/openapi+yaml", api.YAML},
		// OpenAPI 3.0, for generators that do not know 3.1.
		"/v1/openapi-3.0.json": {"application/openapi+json", api.Downgrade},
		"/v1/docs":             {"text/html; charset=utf-8", func() ([]byte, error) { return docs(api) }},
		"/v1/docs.css": {"text/css; charset=utf-8",
			func() ([]byte, error) { return files.ReadFile("page/docs.css") }},
	} {
		text := sync.OnceValues(file.make)
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			data, err := text()
			if err != nil {
				problem.Write(w, problem.New(http.StatusInternalServerError, problem.TypeInternal, "", err.Error()))
				return
			}
			w.Header().Set("Content-Type", file.contentType)
			w.Header().Set("Content-Security-Policy", pageSecurity)
			_, _ = w.Write(data)
		})
	}
}

// docs is the page that shows the API.
func docs(api *huma.OpenAPI) ([]byte, error) {
	var page bytes.Buffer
	err := pageTemplate.Execute(&page, struct {
		API     *huma.OpenAPI
		Routes  []route
		Schemas map[string]*huma.Schema
	}{api, routes(api), api.Components.Schemas.Map()})
	return page.Bytes(), err
}

// routes returns the operations by path and method.
func routes(api *huma.OpenAPI) (out []route) {
	for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
		p := api.Paths[path]
		for _, o := range []*huma.Operation{p.Get, p.Post, p.Put, p.Patch, p.Delete} {
			if o != nil {
				out = append(out, route{o.Method, path, o})
			}
		}
	}
	return out
}
