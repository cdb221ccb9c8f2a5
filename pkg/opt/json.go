package opt

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/document"
)

// JSONFlag is --json of a command whose output is one document of pkg/document.
func JSONFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print one JSON document"} }

// Did prints what a command of quill has done: its text, or with --json the document of the result.
func (e Env) Did(c *cli.Context, r document.Result) error {
	if c.Bool("json") {
		return document.Write(e.Stdout, document.Results{Results: document.RowsOf([]document.Result{r})})
	}
	_, err := fmt.Fprintln(e.Stdout, r.Text)
	return err
}
