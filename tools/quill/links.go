package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/opt"
)

// linksCommand makes a symbolic link to this program for every command of
// Grid Engine.
func linksCommand(opt.Env) *cli.Command {
	return &cli.Command{
		Name: "links", Usage: "make links named qsub, qstat, ... to this program", ArgsUsage: "DIR",
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return errors.New("links: needs the directory for the links")
			}
			return link(c.Args().First())
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
