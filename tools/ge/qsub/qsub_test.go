package qsub

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/opt/opttest"
)

// TestTranscripts runs the sessions in testdata.
func TestTranscripts(t *testing.T) { opttest.Transcripts(t, "testdata", Run, nil) }

// TestDirectoryGone: nothing is submitted from a directory that has been
// removed, whatever else was asked for.
func TestDirectoryGone(t *testing.T) {
	for _, args := range [][]string{{"-b", "y", "true"}, {"-cwd", "x"}, {"-wd", "/tmp", "x"}, {"-zz"}} {
		var said strings.Builder
		env := opt.Env{Stdin: strings.NewReader("true\n"), Stdout: &said, Stderr: &said,
			Getenv:  func(string) string { return "" },
			Connect: func(context.Context) (client.Client, error) { return nil, errors.New("qmaster was asked") }}
		if code := Run(env, args); code != 14 || said.String() != "cannot read current working directory\n" {
			t.Errorf("%v: exit %d, said %q", args, code, said.String())
		}
	}
}
