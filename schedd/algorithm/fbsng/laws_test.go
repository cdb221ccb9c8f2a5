package fbsng_test

import (
	"testing"

	"github.com/quill-grid/quill/schedd/algorithm/algorithmtest"
	"github.com/quill-grid/quill/schedd/algorithm/fbsng"
)

func TestLaws(t *testing.T) { algorithmtest.Run(t, fbsng.Entry) }
