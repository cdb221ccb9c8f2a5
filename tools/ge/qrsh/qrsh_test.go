package qrsh

import (
	"testing"

	"github.com/quill-grid/quill/pkg/opt/opttest"
)

// TestTranscripts runs the sessions in testdata, a folder for each command.
func TestTranscripts(t *testing.T) {
	opttest.Transcripts(t, "testdata/qrsh", Run, nil)
	opttest.Transcripts(t, "testdata/qlogin", RunLogin, nil)
}
