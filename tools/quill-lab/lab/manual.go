package lab

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/charmbracelet/x/term"
	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/manual"
)

// manualCommand returns `quill manual`: it lists the manual of tools/manual, shows a part of it in a pager and
// installs the pages.
func manualCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "manual", Usage: "list the chapters, pages and files of the manual, or show one",
		ArgsUsage: "[CHAPTER|PAGE|FILE]",
		Description: "A page of a command of quill is found by the command, too: up is quill-up(1). On a terminal a chapter\n" +
			"is shown in $PAGER (default: less) and a page by man, else they are printed as Markdown.\n\n" +
			"   quill manual\n" +
			"   quill manual schedule\n" +
			"   quill manual qsub\n" +
			"   quill manual up\n" +
			"   quill manual queue_conf\n" +
			"   quill manual qstat-full.schema.json > qstat-full.schema.json\n" +
			"   quill manual quill-alerts.yml > /etc/prometheus/rules/quill-alerts.yml",
		Flags: []cli.Flag{
			opt.JSONFlag(),
			&cli.StringFlag{Name: "install", Usage: "write all pages for man(1) below `DIR`, as DIR/man1/qsub.1"},
		},
		Action: func(c *cli.Context) error {
			switch {
			case c.Bool("json") && (c.IsSet("install") || c.NArg() > 0):
				return opt.Usagef("manual: --json lists what there is; it goes with no name and not with --install")
			case c.Bool("json"):
				return document.Write(env.Stdout, manualContents())
			case c.IsSet("install") && c.NArg() > 0:
				return opt.Usagef("manual: --install writes all pages; %q is too much", c.Args().First())
			case c.IsSet("install"):
				return installPages(c.String("install"))
			case c.NArg() == 0:
				return listManual(env.Stdout)
			case c.NArg() == 1:
				return showManual(env, c.Args().First())
			}
			return opt.Usagef("manual: one chapter or page at a time, not %q", strings.Join(c.Args().Slice(), " "))
		},
	}
}

// showManual shows the file, page or chapter of that name.
func showManual(env opt.Env, name string) error {
	if text, err := manual.File(name); err == nil {
		return showText(env, text)
	}
	if p, ok := manual.PageOf(name); ok {
		if man, err := exec.LookPath("man"); err == nil && terminal(env) != nil {
			return runViewer(env, string(p.Roff()), man, "-l", "-")
		}
		return showText(env, p.Text)
	}
	text, err := manual.Text(name)
	if err != nil {
		return err
	}
	return showText(env, text)
}

// installPages writes all pages below a directory, by section.
func installPages(dir string) error {
	for _, p := range manual.Pages() {
		section := filepath.Join(dir, fmt.Sprintf("man%d", p.Section))
		if err := os.MkdirAll(section, 0o755); err != nil {
			return fmt.Errorf("manual: %w", err)
		}
		if err := os.WriteFile(filepath.Join(section, fmt.Sprintf("%s.%d", p.Name, p.Section)), p.Roff(), 0o644); err != nil {
			return fmt.Errorf("manual: %w", err)
		}
	}
	return nil
}

// listManual prints the table of contents, the manual pages by section and the files by folder.
func listManual(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, c := range manual.Chapters() {
		fmt.Fprintf(table, "%s\t%s\n", c.Name, c.Summary)
	}
	for _, s := range manual.Sections {
		fmt.Fprintf(table, "\n%s\n", s.Title)
		for _, p := range manual.Pages() {
			if p.Section == s.Number {
				fmt.Fprintf(table, "%s(%d)\t%s\n", p.Name, p.Section, p.Summary)
			}
		}
	}
	for _, f := range manual.Folders {
		fmt.Fprintf(table, "\n%s\n%s\n", f.Title, strings.Join(f.Files(), "\n"))
	}
	return table.Flush()
}

// manualContents returns what listManual prints.
func manualContents() document.Manual {
	var chapters []document.ManualChapter
	for _, c := range manual.Chapters() {
		chapters = append(chapters, document.ManualChapter(c))
	}
	var pages []document.ManualPage
	for _, p := range manual.Pages() {
		pages = append(pages, document.ManualPage{Name: p.Name, Section: p.Section, Summary: p.Summary})
	}
	var files []string
	for _, f := range manual.Folders {
		files = append(files, f.Files()...)
	}
	return document.Manual{Chapters: document.RowsOf(chapters), Pages: document.RowsOf(pages),
		Files: document.RowsOf(files)}
}

// showText shows a text in the user's pager, or prints it where there is no terminal to page in.
func showText(env opt.Env, text string) error {
	if terminal(env) == nil {
		_, err := io.WriteString(env.Stdout, text)
		return err
	}
	return runViewer(env, text, "/bin/sh", "-c", cmp.Or(os.Getenv("PAGER"), "less"))
}

// terminal returns standard output when it is a terminal, else nil.
func terminal(env opt.Env) *os.File {
	if out, ok := env.Stdout.(*os.File); ok && term.IsTerminal(out.Fd()) {
		return out
	}
	return nil
}

// runViewer runs a program that shows a text on the terminal.
func runViewer(env opt.Env, text, viewer string, args ...string) error {
	if err := env.Converse(strings.NewReader(text), viewer, args...); err != nil {
		return fmt.Errorf("manual: showing the text with %s: %w", strings.Join(append([]string{viewer}, args...), " "), err)
	}
	return nil
}
