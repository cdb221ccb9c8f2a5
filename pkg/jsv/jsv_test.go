package jsv

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/grid"
)

// TestDialogs holds one verification after the other: the input is what a script
// writes, the output what it reads and what follows.
func TestDialogs(t *testing.T) {
	datadriven.RunTest(t, "testdata/dialogs.txt", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		talk, say := Begin(JobDescription{
			Params: []Param{{"VERSION", Version}, {"USER", "alice"}, {"CMDARG0", "two\nlines"}},
			Env: grid.Values{{Name: "A", Text: "b"}, {Name: "EMPTY"}, {Name: "F", Text: "x\ny"},
				{Name: "G\nPARAM l_hard h_rt=60", Text: "1"}},
		})
		hear := func(lines []string) {
			for _, line := range lines {
				fmt.Fprintf(&out, ">>> %s\n", line)
			}
		}
		hear(say)
		for _, line := range strings.Split(d.Input, "\n") {
			turn, err := talk.Receive(strings.ReplaceAll(line, "<cr>", "\r"))
			hear(turn.Send)
			if turn.Log != nil {
				fmt.Fprintf(&out, "log %s %q\n", turn.Log.Level, turn.Log.Text)
			}
			if err != nil {
				return out.String() + "error: " + err.Error() + "\n"
			}
			if turn.Done {
				for _, c := range talk.Result.Corrections {
					fmt.Fprintf(&out, "change %+v\n", c)
				}
				return out.String() + fmt.Sprintf("over, refusal %q\n", talk.Result.Refusal)
			}
		}
		return out.String() + "not over\n"
	})
}

// TestURLs reads jsv_urls as the client and as qmaster does.
func TestURLs(t *testing.T) {
	datadriven.RunTest(t, "testdata/urls.txt", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		for _, text := range strings.Split(d.Input, "\n") {
			server, err := ServerURL(text)
			fmt.Fprintf(&out, "%s: ", text)
			if err == nil {
				fmt.Fprintf(&out, "user %q path %q", server.User, server.Path)
				_, err = ClientURL(text)
			}
			if err != nil {
				fmt.Fprintf(&out, " error: %v", err)
			}
			fmt.Fprintln(&out)
		}
		return out.String()
	})
}
