package gridserver_test

import (
	"testing"

	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/gridserver"
)

func TestTranscripts(t *testing.T) { algorithmtest.Transcripts(t, gridserver.Entry) }
