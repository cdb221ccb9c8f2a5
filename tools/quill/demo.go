package main

import (
	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/demo"
)

// demoCommand shows a real workload on a throw-away cell.
func demoCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "watch a real workload run on a throw-away cell of four hosts",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "span", Usage: "how long the submissions take; 25s by default"},
			&cli.BoolFlag{Name: "keep", Usage: "leave the cell's directory for a look afterwards"},
		},
		Action: func(c *cli.Context) error {
			return demo.Run(c.Context, env, demo.Options{Span: c.Duration("span"), Keep: c.Bool("keep")})
		},
	}
}
