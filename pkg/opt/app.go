package opt

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// App frames the command for urfave/cli: name, flag table, help as Grid
// Engine prints it. Its action parses the words and runs run, whose result is
// the exit status.
func (c *Command[T]) App(env Env, run func(context.Context, Env, *T) int) *cli.App {
	app := &cli.App{
		Name:                  c.Name,
		Version:               Version,
		UsageText:             c.Usage,
		Description:           c.Legend,
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
		t := new(T)
		if c.New != nil {
			t = c.New(env, words)
		}
		err := c.Parse(t, words)
		if errors.Is(err, ErrHelp) {
			printHelp(env.Stdout, app)
			return nil
		}
		if err != nil {
			return cli.Exit("", c.Complain(env, err))
		}
		return cli.Exit("", run(cc.Context, env, t))
	}
	return app
}

// RunApp runs an app with the words behind its name and returns the exit
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
	fmt.Fprintln(env.Stderr, err)
	return 1
}

// RunMenu runs an app of several commands, as quill is, and returns the exit
// status. What went wrong is told on stderr under the app's name.
func RunMenu(env Env, app *cli.App, commands []func(Env) *cli.Command, args []string) int {
	app.Version, app.HideVersion = Version, true
	app.Reader, app.Writer, app.ErrWriter = env.Stdin, env.Stdout, env.Stderr
	app.ExitErrHandler = func(*cli.Context, error) {}
	app.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return err }
	app.Action = func(c *cli.Context) error {
		if c.Args().Present() {
			return fmt.Errorf("unknown command %q; `%s help` lists them", c.Args().First(), app.Name)
		}
		return cli.ShowAppHelp(c)
	}
	for _, build := range commands {
		c := build(env)
		c.OnUsageError = app.OnUsageError
		app.Commands = append(app.Commands, c)
	}
	err := app.RunContext(env.context(), append([]string{app.Name}, args...))
	if err == nil {
		return 0
	}
	var exit cli.ExitCoder
	if errors.As(err, &exit) {
		if exit.Error() != "" {
			fmt.Fprintln(env.Stderr, exit.Error())
		}
		return exit.ExitCode()
	}
	fmt.Fprintf(env.Stderr, "%s: %s\n", app.Name, strings.TrimPrefix(err.Error(), "error: "))
	return 1
}

// Complain prints a usage error and returns the exit status.
func (c *Command[T]) Complain(env Env, err error) int {
	var usage *Error
	if !errors.As(err, &usage) {
		usage = &Error{Text: err.Error()}
	}
	if usage.Text != "" {
		fmt.Fprintln(env.Stderr, c.Prefix+usage.Text)
	}
	if usage.Help {
		printHelp(env.Stderr, c.App(env, nil))
	}
	return cmp.Or(usage.Code, c.Code, 1)
}

func printHelp(w io.Writer, app *cli.App) { cli.HelpPrinterCustom(w, helpTemplate, app, nil) }

const helpTemplate = Product + ` {{.Version}}
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
