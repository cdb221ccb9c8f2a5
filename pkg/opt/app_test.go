package opt

import (
	"context"
	"testing"

	"github.com/quill-grid/quill/pkg/switches"
)

// writes counts the calls of Write.
type writes int

func (w *writes) Write(b []byte) (int, error) { *w++; return len(b), nil }

// TestHelpIsOneWrite: a reader that wants only the first line of help does not end the command with SIGPIPE.
func TestHelpIsOneWrite(t *testing.T) {
	help := switches.Switch[struct{}]{Name: "help", Help: "print this help"}
	command := &switches.Command[struct{}]{Name: "example", Usage: "[options]", Column: 20,
		Switches: []switches.Switch[struct{}]{help, help}}
	var out writes
	app := App(Env{Stdout: &out}, command, func(context.Context, Env, *struct{}) int { return 1 })
	if status := RunApp(Env{}, app, []string{"-help"}); status != 0 || out != 1 {
		t.Errorf("status %d after %d writes", status, out)
	}
}
