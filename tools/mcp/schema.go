package mcp

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/tools/manual"
)

// schemaURI begins the addresses of schemas: their $id.
const schemaURI = "urn:quill:schema:"

// rowSchemas says by which schema of the manual, and which member of it, the rows of list are described. An agent reads
// the ones that it needs: together they are longer than everything else that it is given.
var rowSchemas = map[string]struct {
	schema  string
	members []string
}{
	"jobs":           {"qstat-reduced", []string{"jobs_running", "jobs_pending"}},
	"queues":         {"qstat-full", []string{"queues"}},
	"cluster_queues": {"qstat-cqueue", []string{"queues"}},
	"hosts":          {"qhost", []string{"hosts"}},
	"quotas":         {"qquota", []string{"quota_usage"}},
	"reservations":   {"qrstat", []string{"ars"}},
	"proposals":      {"quill-proposals", []string{"proposals"}},
}

// Inputs with few values.
type (
	ListKind   string // of list
	JobStates  string // letters of qstat -s
	Algorithm  string // of the scheduler
	Action     string // of a proposed change
	ConfigKind string // kind of the configuration, as in events
)

// choices are the schemas of inputs with few values: the protocol refuses others.
var choices = &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[ListKind](): enum("jobs", "queues", "cluster_queues", "hosts", "quotas", "reservations", "proposals"),
	// Without z: jobs that are over are not listed.
	reflect.TypeFor[JobStates](): {Type: "string", Pattern: "^([prsa]|h[uosdja]?)*$"},
	reflect.TypeFor[Algorithm](): enum(algorithmNames()...),
	reflect.TypeFor[Action](): enum("alter", "hold", "release", "delete", "suspend", "unsuspend", "reschedule", "clear",
		"submit", "disable", "enable", "configure", "add", "remove"),
	reflect.TypeFor[ConfigKind](): enum(configKinds()...),
}}

// enum is the schema of a text that is one of these.
func enum(values ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	return s
}

func algorithmNames() (names []string) {
	for _, e := range shipped.Algorithms() {
		names = append(names, e.Name)
	}
	return names
}

func configKinds() (names []string) {
	for i := range grid.Kinds {
		if k := &grid.Kinds[i]; k.Configured() {
			names = append(names, k.Name)
		}
	}
	return names
}

// schemas are those that results refer to.
func schemas() (names []string) {
	for _, r := range rowSchemas { // order: sorted below
		names = append(names, r.schema)
	}
	names = append(names, "quill-why")
	slices.Sort(names)
	return names
}

func readSchema(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	name, _ := strings.CutPrefix(r.Params.URI, schemaURI)
	if !slices.Contains(schemas(), name) {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	text, err := manual.File(name + ".schema.json")
	if err != nil {
		return nil, err
	}
	return &sdk.ReadResourceResult{
		Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "application/schema+json", Text: text}}}, nil
}
