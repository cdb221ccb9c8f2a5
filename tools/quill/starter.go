package main

import (
	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/ge/qrsh"
)

// starterCommand is what execd runs in the place of the command of a qrsh.
func starterCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: qrsh.StarterName, Usage: "run the command of a qrsh; execd starts it", ArgsUsage: "[LIMITS]", Hidden: true,
		SkipFlagParsing: true,
		Action:          func(c *cli.Context) error { return cli.Exit("", qrsh.Starter(env, c.Args().First())) },
	}
}
