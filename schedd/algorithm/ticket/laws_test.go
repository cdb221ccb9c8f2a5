package ticket_test

import (
	"testing"

	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/ticket"
)

func TestLaws(t *testing.T) { algorithmtest.Run(t, ticket.Entry) }
