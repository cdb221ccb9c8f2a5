package reservation

import (
	"testing"

	"github.com/quill-grid/quill/pkg/opt/opttest"
)

// TestTranscripts runs the sessions in testdata.
func TestTranscripts(t *testing.T) {
	opttest.Transcripts(t, "testdata/qrdel.txt", RunQrdel, nil)
	opttest.Transcripts(t, "testdata/qrsub.txt", RunQrsub, nil)
}
