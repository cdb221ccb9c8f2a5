package manual

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"text/tabwriter"

	"github.com/charmbracelet/x/term"
	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
)

// Command is `quill manual`.
func Command(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "manual", Usage: "list the chapters of the manual, or show one", ArgsUsage: "[CHAPTER]",
		Description: "On a terminal a chapter is shown in $PAGER (default: less), else it is printed as Markdown.\n\n" +
			"   quill manual\n" +
			"   quill manual schedule",
		Action: func(c *cli.Context) error {
			switch c.NArg() {
			case 0:
				return list(env.Stdout)
			case 1:
				text, err := Text(c.Args().First())
				if err != nil {
					return err
				}
				return page(env, text)
			}
			return fmt.Errorf("manual: one chapter at a time, not %q", strings.Join(c.Args().Slice(), " "))
		},
	}
}

// list prints the table of contents.
func list(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, c := range Chapters() {
		fmt.Fprintf(table, "%s\t%s\n", c.Name, c.Summary)
	}
	return table.Flush()
}

// page shows a text in the user's pager, or prints it where nobody could page.
func page(env opt.Env, text string) error {
	out, ok := env.Stdout.(*os.File)
	if !ok || !term.IsTerminal(out.Fd()) {
		_, err := io.WriteString(env.Stdout, text)
		return err
	}
	pager := exec.Command("/bin/sh", "-c", cmp.Or(os.Getenv("PAGER"), "less"))
	pager.Stdin, pager.Stdout, pager.Stderr = strings.NewReader(text), out, env.Stderr
	if err := pager.Run(); err != nil {
		return fmt.Errorf("manual: showing the chapter with $PAGER: %w", err)
	}
	return nil
}
