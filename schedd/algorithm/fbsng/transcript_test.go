package fbsng_test

import (
	"testing"

	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/fbsng"
)

func TestTranscripts(t *testing.T) { algorithmtest.Transcripts(t, fbsng.Entry) }
