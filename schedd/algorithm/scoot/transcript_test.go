package scoot_test

import (
	"testing"

	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/scoot"
)

func TestTranscripts(t *testing.T) { algorithmtest.Transcripts(t, scoot.Entry) }
