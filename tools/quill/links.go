package main

import (
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/opt"
)

// linksCommand makes a symbolic link to this program for every command of
// Grid Engine.
func linksCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "links", Usage: "make links named qsub, qstat, ... to this program", ArgsUsage: "DIR",
		Flags: []cli.Flag{opt.JSONFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return opt.Usagef("links: needs the directory for the links")
			}
			dir := c.Args().First()
			if err := link(dir); err != nil || !c.Bool("json") {
				return err
			}
			return document.Write(env.Stdout, document.Links{Directory: dir, Links: gridNames()})
		},
	}
}

func link(dir string) error {
	target, err := os.Executable()
	if err != nil {
		return err
	}
	if abs, err := filepath.Abs(dir); err == nil && filepath.Dir(target) == abs {
		target = filepath.Base(target)
	}
	for _, name := range gridNames() {
		if err := cell.Link(target, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
