package roundrobin_test

import (
	"testing"

	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/roundrobin"
)

func TestTranscripts(t *testing.T) { algorithmtest.Transcripts(t, roundrobin.Entry) }

func TestLaws(t *testing.T) {
	algorithmtest.Run(t, roundrobin.Entry, "", "roundrobin.group_by=project roundrobin.tasks_per_turn=3")
}
