package opt

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/product"
	"github.com/quill-grid/quill/pkg/switches"
)

// RunMenu runs an app of several commands, as quill is, and returns the exit status.
// Errors are printed on stderr after the app's name, with --json as a document on stdout unless something is printed
// there.
func RunMenu(env Env, app *cli.App, commands []func(Env) *cli.Command, args []string) int {
	env.StopsItself() // daemons, and programs that remove what they have made
	printed := &begun{Writer: env.Stdout}
	if env.json = jsonRequested(args); env.json {
		env.Stdout = printed
	}
	app.UsageText, app.Version, app.HideVersion = app.Name+" COMMAND [OPTIONS]", product.Version, true
	app.Reader, app.Writer, app.ErrWriter = env.Stdin, env.Stdout, env.Stderr
	app.ExitErrHandler = func(*cli.Context, error) {}
	app.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return &switches.Error{Text: err.Error()} }
	app.Action = func(c *cli.Context) error {
		if c.Args().Present() {
			return switches.Errorf("unknown command %q; `%s help` lists them", c.Args().First(), app.Name)
		}
		return cli.ShowAppHelp(c)
	}
	for _, build := range commands {
		app.Commands = append(app.Commands, inMenu(build(env), app.Name, app.OnUsageError))
	}
	if len(args) > 0 && args[0] == CompleteWord {
		env.printCompletions(menuGrammar(app, args[1:]), args[1:])
		return 0
	}
	err := app.RunContext(env.context(), append([]string{app.Name}, args...))
	if err == nil {
		return 0
	}
	var exit cli.ExitCoder
	switch {
	case errors.As(err, &exit) && (exit.Error() == "" || !env.json || printed.any):
		if exit.Error() != "" {
			fmt.Fprintln(env.Stderr, exit.Error())
		}
		return exit.ExitCode()
	case exit != nil:
		return env.Report(err, exit.ExitCode())
	case env.json && !printed.any:
		return env.Report(err, 1)
	}
	fmt.Fprintf(env.Stderr, "%s: %s\n", app.Name, strings.TrimPrefix(err.Error(), "error: "))
	env.PrintHint(err)
	return 1
}

// jsonRequested reports whether --json is among the words of a command line, before those after --.
func jsonRequested(args []string) bool {
	for _, word := range args {
		switch word {
		case "--json", "-json", "--json=true":
			return true
		case "--":
			return false
		}
	}
	return false
}

// begun is an output of which is known whether anything was written.
type begun struct {
	io.Writer
	any bool
}

func (b *begun) Write(p []byte) (int, error) {
	b.any = true
	return b.Writer.Write(p)
}

// inMenu sets how a command, and those below it, report usage errors and print help: with
// the words of the whole command line, and without a default of "false" for flags. A
// command without an action is a menu of its own.
func inMenu(c *cli.Command, above string, usageError cli.OnUsageErrorFunc) *cli.Command {
	c.OnUsageError = usageError
	visible := len(c.VisibleCommands()) > 0
	c.HideHelpCommand = !visible
	words := []string{above, c.Name}
	switch {
	case visible && c.Action != nil:
		words = append(words, "[COMMAND]")
	case visible:
		words = append(words, "COMMAND")
	}
	if visible || len(c.Flags) > 0 {
		words = append(words, "[OPTIONS]")
	}
	if c.ArgsUsage != "" {
		words = append(words, c.ArgsUsage)
	}
	c.UsageText = strings.Join(words, " ")
	for _, f := range c.Flags {
		if f, ok := f.(*cli.BoolFlag); ok && !f.Value && f.DefaultText == "" {
			f.DisableDefaultText = true
		}
	}
	if c.Action == nil {
		c.Action = func(cc *cli.Context) error {
			if cc.Args().Present() {
				return switches.Errorf("%s: unknown command %q; `%s %[1]s --help` lists them", c.Name, cc.Args().First(), above)
			}
			return cli.ShowSubcommandHelp(cc)
		}
	}
	for _, below := range c.Subcommands {
		inMenu(below, above+" "+c.Name, usageError)
	}
	return c
}

// Usagef returns the error of a command line that cannot be carried out as it is written.
func Usagef(format string, args ...any) error { return switches.Errorf(format, args...) }
