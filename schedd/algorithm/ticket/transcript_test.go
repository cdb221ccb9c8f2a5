package ticket_test

import (
	"testing"

	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/ticket"
)

func TestTranscripts(t *testing.T) { algorithmtest.Transcripts(t, ticket.Entry) }
