package opt

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/product"
)

// RunMenu runs an app of several commands, as quill is, and returns the exit status.
// Errors are printed on stderr after the app's name.
func RunMenu(env Env, app *cli.App, commands []func(Env) *cli.Command, args []string) int {
	env.StopsItself() // daemons, and programs that remove what they have made
	app.UsageText, app.Version, app.HideVersion = app.Name+" COMMAND [OPTIONS]", product.Version, true
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
		app.Commands = append(app.Commands, inMenu(build(env), app.Name, app.OnUsageError))
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
				return fmt.Errorf("%s: unknown command %q; `%s %[1]s --help` lists them", c.Name, cc.Args().First(), above)
			}
			return cli.ShowSubcommandHelp(cc)
		}
	}
	for _, below := range c.Subcommands {
		inMenu(below, above+" "+c.Name, usageError)
	}
	return c
}
