package mcp

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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
