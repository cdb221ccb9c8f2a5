package main

import (
	_ "embed"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/opt"
)

// unitText has a template for the systemd unit of each daemon.
//
//go:embed units.tmpl
var unitText string

var units = template.Must(template.New("").Parse(unitText))

// unitCommand prints a daemon's systemd unit.
func unitCommand(env opt.Env) *cli.Command {
	names := []string{"qmaster", "schedd", "execd", "shepherd", "web"}
	return &cli.Command{
		Name: "unit", Usage: "print the systemd unit of a daemon", ArgsUsage: strings.Join(names, "|"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "prefix", Value: "/usr/local", Usage: "`DIR` where the commands are installed"},
			&cli.StringFlag{Name: "root", Value: "/var/lib/quill", Usage: "the cell whose SGE_ROOT is `DIR`"},
			opt.JSONFlag(),
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return opt.Usagef("unit: needs one of %s, after the options", strings.Join(names, ", "))
			}
			name := c.Args().First()
			if !slices.Contains(names, name) {
				return opt.Usagef("unit: %q is not one of %s", name, strings.Join(names, ", "))
			}
			return printFile(c, env, name, func(out io.Writer) error {
				return units.ExecuteTemplate(out, name, struct{ Prefix, Root string }{c.String("prefix"), c.String("root")})
			})
		},
	}
}

// printFile prints a file that is made for another program: as it is, or with --json as a document.
func printFile(c *cli.Context, env opt.Env, name string, write func(io.Writer) error) error {
	if !c.Bool("json") {
		return write(env.Stdout)
	}
	var text strings.Builder
	if err := write(&text); err != nil {
		return err
	}
	return document.Write(env.Stdout, document.File{Name: name, Text: text.String()})
}
