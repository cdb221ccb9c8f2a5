package qquota

import (
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt/opttest"
)

// TestTranscripts runs the sessions in testdata. The step sets tells the next
// Get of host groups and user lists.
func TestTranscripts(t *testing.T) {
	opttest.Transcripts(t, "testdata", Run, map[string]opttest.Step{
		"sets": func(d *opttest.Desk, _ []string) {
			d.Objects(
				&grid.Userset{Name: "us1", Type: "ACL", Entries: grid.Names{"alice"}},
				&grid.Userset{Name: "us2", Type: "ACL", Entries: grid.Names{"@bob"}},
				&grid.HGroup{Name: "@deep", HostList: grid.Names{"@g2"}},
				&grid.HGroup{Name: "@g1", HostList: grid.Names{"node1", "node2"}},
				&grid.HGroup{Name: "@g2", HostList: grid.Names{"node3"}})
		},
	})
}
