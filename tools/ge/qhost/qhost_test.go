package qhost_test

import (
	"os"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/tools/ge/qhost"
	"github.com/quill-grid/quill/tools/ge/qstat/clustertest"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// TestTranscripts shows the small cell.
func TestTranscripts(t *testing.T) {
	c := &clustertest.Client{Objects: clustertest.Small()}
	datadriven.RunTest(t, "testdata/qhost.txt", func(t *testing.T, d *datadriven.TestData) string {
		return clustertest.Transcript(c, qhost.Run, d.Input)
	})
}
