package serve

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/demo"
)

// demoCommand shows a real workload on a throw-away cell.
func demoCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "demo", Usage: "watch a real workload run on a throw-away cell of four hosts",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "span", Usage: "`TIME` that the submissions take",
				DefaultText: "25s; with --algorithms 6s each"},
			&cli.IntFlag{Name: "jobs", Value: demo.JobsMax,
				Usage: fmt.Sprintf("submit the first `N` jobs of the log, %d to %d; not with --algorithms",
					demo.JobsMin, demo.JobsMax)},
			&cli.BoolFlag{
				Name: "algorithms", Usage: "show one stream of jobs from two projects under each scheduling algorithm in turn"},
			&cli.BoolFlag{Name: "keep", Usage: "keep the cell's directory"},
			&cli.BoolFlag{
				Name: "web", Usage: "serve the pages of the cell, live and, until the demo is interrupted, afterwards"},
		},
		Action: func(c *cli.Context) error {
			o := demo.Options{Span: c.Duration("span"), Jobs: c.Int("jobs"), Keep: c.Bool("keep"), Web: c.Bool("web")}
			if c.Bool("algorithms") {
				if c.IsSet("jobs") {
					return opt.Usagef("--jobs and --algorithms exclude each other")
				}
				return demo.Algorithms(c.Context, env, o)
			}
			return demo.Run(c.Context, env, o)
		},
	}
}
