package web

import "testing"

// TestClientsDescription: for clients, the description names a server, and of each operation the answers to wrong
// requests; rows on lines are of a media type of their own, and have a schema.
func TestClientsDescription(t *testing.T) {
	api := newCell(t, 0).server.api.OpenAPI()
	if len(api.Servers) != 1 || api.Servers[0].URL != "/" {
		t.Errorf("servers: %v", api.Servers)
	}
	lines := 0
	for _, r := range routes(api) {
		if wrong := r.Responses["4XX"]; wrong == nil || wrong.Content["application/problem+json"] == nil {
			t.Errorf("%s has no answer to a wrong request", r.OperationID)
		}
		if ok := r.Responses["200"]; ok != nil && ok.Content[typeNDJSON] != nil {
			lines++
			if ok.Content[typeNDJSON].Schema == nil {
				t.Errorf("the rows of %s have no schema", r.OperationID)
			}
		}
	}
	if lines < 6 {
		t.Errorf("%d operations have rows on lines", lines)
	}
}
