package gridserver_test

import (
	"testing"

	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/gridserver"
)

func TestLaws(t *testing.T) { algorithmtest.Run(t, gridserver.Entry) }
