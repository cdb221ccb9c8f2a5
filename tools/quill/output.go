package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
)

// outputCommand returns `quill output`: it prints an output file of a task, which its host reads as the owner of the
// job.
//
//	client.Output ── gdi.Output ──▶ qmaster ──▶ execd ──▶ part ──▶ stdout as it is, or JSON of pkg/document
func outputCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "output", Usage: "print what a job has written to its output file",
		ArgsUsage: "JOB[.TASK]",
		Description: "The file is read by the execution host of the task, with the rights of the owner of the job: no shared\n" +
			"file system is needed. The owner and managers may read it, while the task runs and for some time after.\n\n" +
			"   quill output 4711\n" +
			"   quill output 4711.3 -n 20\n" +
			"   quill output 4711 -f --stderr",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"},
				Usage: "print what is written until the task ends; wait for it to start"},
			&cli.UintFlag{Name: "lines", Aliases: []string{"n"}, Usage: "begin with the last `LINES`", DefaultText: "all"},
			&cli.BoolFlag{Name: "stderr", Usage: "the file of standard error"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document with the end of the file, or with the last LINES"},
		},
		Action: func(c *cli.Context) error {
			words, err := opt.Words(c)
			if err != nil {
				return fmt.Errorf("output: %w", err)
			}
			if c.Bool("help") {
				return cli.ShowSubcommandHelp(c)
			}
			if len(words) != 1 {
				return opt.Usagef("output: which job? one JOB or JOB.TASK is needed")
			}
			what := gdi.Output{Stderr: c.Bool("stderr"), Tail: uint32(min(c.Uint("lines"), math.MaxUint32))}
			if what.Job, what.Task, err = opt.JobOf(words[0]); err != nil {
				return fmt.Errorf("output: %w", err)
			}
			follow, whole := c.Bool("follow"), c.Bool("json")
			switch {
			case c.IsSet("lines") && what.Tail == 0:
				return opt.Usagef("output: -n 0: at least one line is printed")
			case follow && whole:
				return opt.Usagef("output: --json prints one document, and does not go with -f")
			case whole && what.Tail == 0:
				what.Tail = math.MaxUint32
			}
			return showOutput(c.Context, env, what, follow, whole)
		},
	}
}

// showOutput prints the file.
func showOutput(ctx context.Context, env opt.Env, what gdi.Output, follow, whole bool) error {
	master, err := env.Connect(ctx)
	if err != nil {
		return err
	}
	defer master.Close()
	file := &client.Output{What: what, Follow: follow, Wait: follow,
		Ask: func(ctx context.Context, b gdi.Body) (gdi.Reply, error) {
			return master.Do(ctx, "quill output", b)
		}}
	for first := true; ; first = false {
		p, err := file.Next(ctx)
		switch {
		case err == io.EOF, ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case whole:
			return document.Write(env.Stdout, document.OutputOf(what, p))
		case p.Truncated && !first:
			fmt.Fprintf(env.Printable().Stderr, "quill output: %s: file truncated\n", p.Path)
		}
		if _, err := env.Stdout.Write(p.Data); err != nil {
			return err
		}
	}
}
