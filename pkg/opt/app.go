package opt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/product"
	"github.com/quill-grid/quill/pkg/switches"
)

// App frames a command for urfave/cli: name, flag table, help as Grid Engine prints it. Its action parses the words and
// calls run, whose result is the exit status.
func App[T any](env Env, c *switches.Command[T], run func(context.Context, Env, *T) int) *cli.App {
	if !c.Raw {
		env = env.Printable()
	}
	app := &cli.App{
		Name:                  c.Name,
		Version:               product.Banner(),
		UsageText:             c.Usage,
		Reader:                env.Stdin,
		Writer:                env.Stdout,
		ErrWriter:             env.Stderr,
		HideHelp:              true,
		HideVersion:           true,
		SkipFlagParsing:       true,
		CustomAppHelpTemplate: helpTemplate,
		ExitErrHandler:        func(*cli.Context, error) {},
	}
	for _, s := range c.Switches {
		if s.Refused == "" {
			app.Flags = append(app.Flags, row{s.Name, s.Args, s.Help, c.Indent, c.Column})
		}
	}
	app.Action = func(cc *cli.Context) error {
		words := cc.Args().Slice()
		if env.completing {
			env.printCompletions(grammarOf(c), words)
			return nil
		}
		t := start(c, words)
		err := c.Parse(t, words)
		if errors.Is(err, switches.ErrHelp) {
			printHelp(env.Stdout, c, app)
			return nil
		}
		if err != nil {
			return cli.Exit("", Complain(env.In(c.Requested(words)), c, err))
		}
		if c.Defaults != "" {
			inLine := c.Chosen(t)
			t = start(c, words)
			if err := parseAll(env, c, t, words); err != nil {
				return cli.Exit("", Complain(env.In(inLine), c, err))
			}
		}
		return cli.Exit("", run(cc.Context, env.In(c.Chosen(t)), t))
	}
	return app
}

// start returns what the words are read into.
func start[T any](c *switches.Command[T], words []string) *T {
	if c.New == nil {
		return new(T)
	}
	return c.New(words)
}

// RunApp runs an app with the words after its name and returns the exit
// status.
func RunApp(env Env, app *cli.App, args []string) int {
	err := app.RunContext(env.context(), append([]string{app.Name}, args...))
	var exit cli.ExitCoder
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return env.Report(err, 1)
}

// Complain prints a usage error and returns the exit status.
func Complain[T any](env Env, c *switches.Command[T], err error) int {
	var usage *switches.Error
	if !errors.As(err, &usage) {
		usage = &switches.Error{Text: err.Error()}
	}
	code := cmp.Or(usage.Code, c.Code, 1)
	prefix := c.Prefix
	if usage.Bare {
		prefix = ""
	}
	switch {
	case env.json:
		return env.Report(err, code)
	case !usage.Silent:
		fmt.Fprintln(env.Stderr, prefix+usage.Text)
	}
	if usage.Help {
		printHelp(env.Stderr, c, App(env, c, nil))
	}
	return code
}

func printHelp[T any](w io.Writer, c *switches.Command[T], app *cli.App) {
	app.Description = c.Legend
	if c.Terms != nil {
		app.Description += c.Terms()
	}
	printPage(w, helpTemplate, app, nil)
}

// printPage prints help in one write: a reader of the first line only, as `qstat -help | head -n 1` has it, does not
// end the command.
func printPage(w io.Writer, template string, data any, functions map[string]any) {
	var page bytes.Buffer
	libraryPage(&page, template, data, functions)
	_, _ = w.Write(page.Bytes())
}

// libraryPage is how urfave/cli prints help: with one write for each piece of the template.
var libraryPage = cli.HelpPrinterCustom

const helpTemplate = `{{.Version}}
usage: {{.Name}} {{.UsageText}}
{{range .VisibleFlags}}{{.}}
{{end}}{{.Description}}`

// row is a switch as urfave/cli's flag table shows it.
type row struct {
	name, args, help string
	indent, column   int
}

func (r row) Names() []string           { return []string{r.name} }
func (r row) IsVisible() bool           { return r.help != "" }
func (r row) IsSet() bool               { return false }
func (r row) Apply(*flag.FlagSet) error { return nil }

// String is the switch's line of help; more lines of text stand below the
// first.
func (r row) String() string {
	left := "[-" + r.name + "]"
	if r.args != "" {
		left = "[-" + r.name + " " + r.args + "]"
	}
	below := "\n" + strings.Repeat(" ", r.column)
	text := strings.ReplaceAll(r.help, "\n", below)
	return fmt.Sprintf("%-*s %s", r.column-1, strings.Repeat(" ", r.indent)+left, text)
}
