package qselect_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/tools/ge/qselect"
	"github.com/quill-grid/quill/tools/ge/qstat/clustertest"
)

// TestTranscripts selects from the small cell.
func TestTranscripts(t *testing.T) {
	c := &clustertest.Client{Objects: clustertest.Small()}
	datadriven.RunTest(t, "testdata/qselect.txt", func(t *testing.T, d *datadriven.TestData) string {
		return clustertest.Transcript(c, qselect.Run, d.Input)
	})
}
