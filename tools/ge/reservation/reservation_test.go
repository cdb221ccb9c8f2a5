package reservation

import (
	"testing"

	"github.com/quill-grid/quill/pkg/opt/opttest"
)

// TestTranscripts runs the sessions in testdata.
func TestTranscripts(t *testing.T) {
	opttest.Transcripts(t, "testdata/qrdel.txt", RunQrdel, nil)
	opttest.Transcripts(t, "testdata/qrsub.txt", RunQrsub, nil)
	opttest.Transcripts(t, "testdata/qrstat.txt", RunQrstat, map[string]opttest.Step{
		"reservations": func(d *opttest.Desk, _ []string) { d.Objects(reservations()...) }, // are listed to the next run
		// ... another one, with its attributes
		"unusual": func(d *opttest.Desk, _ []string) { d.Objects(unusual()...) },
	})
}
