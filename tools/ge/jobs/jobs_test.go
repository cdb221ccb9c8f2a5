package jobs

import (
	"testing"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/opt/opttest"
)

// TestTranscripts runs the sessions in testdata.
func TestTranscripts(t *testing.T) {
	for name, run := range map[string]func(opt.Env, []string) int{
		"qalter": RunQalter, "qdel": RunQdel, "qmod": RunQmod, "qresub": RunQresub,
		"qhold": RunQhold, "qrls": RunQrls,
	} {
		opttest.Transcripts(t, "testdata/"+name+".txt", run, nil)
	}
}
