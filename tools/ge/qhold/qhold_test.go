package qhold

import (
	"testing"

	"github.com/quill-grid/quill/pkg/opt/opttest"
)

// TestTranscripts runs the sessions in testdata.
func TestTranscripts(t *testing.T) {
	opttest.Transcripts(t, "testdata/qhold.txt", Run, nil)
	opttest.Transcripts(t, "testdata/qrls.txt", RunRelease, nil)
}
