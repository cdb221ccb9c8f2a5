package qhost_test

import (
	"os"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/opt/opttest"
	"github.com/quill-grid/quill/tools/ge/qhost"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// TestTranscripts shows the small cell.
func TestTranscripts(t *testing.T) {
	c := &opttest.Cell{Objects: opttest.SmallCell()}
	datadriven.RunTest(t, "testdata/qhost.txt", func(t *testing.T, d *datadriven.TestData) string {
		return opttest.RunLines(c, qhost.Run, d.Input)
	})
}
