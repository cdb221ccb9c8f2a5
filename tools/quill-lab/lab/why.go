package lab

import (
	"context"
	"fmt"
	"math"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/jobstory"
	"github.com/quill-grid/quill/tools/outlook"
)

// whyCommand returns `quill why`: it finds the log and prints the story of a job that tools/jobstory derives from it.
func whyCommand(env opt.Env) *cli.Command {
	env = env.Printable()
	return &cli.Command{
		Name: "why", Usage: "explain a job from the log: why it waited, what started before it, how it ended",
		ArgsUsage: "JOB[.TASK]",
		Description: "Each step stands with the number of the list that contains it (qevent -from). For a job that waits it\n" +
			"also prints what would have to change for it to start: what is short and by how much, which queue\n" +
			"instances come closest, which jobs stand before it, and the earliest start that can be foreseen.\n\n" +
			"   quill why 4711\n" +
			"   quill why 4711.3 --log week45.glog\n" +
			"   quill why 4711 --at 14:03:20",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "log",
				Usage:       "the log in `CELL-DIR|FILE`: the directory of a cell that does not run, a copy of one, or an exported file",
				DefaultText: "that of the cell"},
			&cli.StringFlag{Name: "at", Usage: "explain it as of `SEQ|TIME`, an event list or a time",
				DefaultText: "the end of the log"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object"},
		},
		Action: func(c *cli.Context) error {
			words, err := opt.Words(c)
			if err != nil {
				return fmt.Errorf("why: %w", err)
			}
			if c.Bool("help") {
				return cli.ShowSubcommandHelp(c)
			}
			if len(words) != 1 {
				return opt.Usagef("why: which job? one JOB or JOB.TASK is needed")
			}
			job, task, err := opt.JobOf(words[0])
			if err != nil {
				return fmt.Errorf("why: %w", err)
			}
			story, err := readStory(c.Context, env, c.String("log"), c.String("at"), job, task)
			if err != nil {
				return fmt.Errorf("why: %w", err)
			}
			if c.Bool("json") {
				return document.Write(env.Stdout, *story)
			}
			return story.Print(env.Stdout)
		},
	}
}

// readStory opens the log and returns the story.
func readStory(ctx context.Context, env opt.Env, path, at string, job, task uint32) (*jobstory.Story, error) {
	source, err := history.Find(path, env.Getenv)
	if err != nil {
		return nil, err
	}
	source.Odd = func(u *codec.Unreadable) { fmt.Fprintln(env.Stderr, "quill why:", u) }
	if at == "" {
		source.Since = func(ctx context.Context, c client.Client) (gdi.Place, error) {
			submit, err := client.Submitted(ctx, c, job)
			return jobstory.Since(submit), err
		}
	}
	log, err := history.Open(ctx, source)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	first, last := log.Span()
	end := uint64(math.MaxUint64)
	if at != "" {
		m, err := opt.ParseMoment(at, last.At.Std())
		if err == nil && m.At != 0 {
			m.Seq, err = log.SeqAt(m.At)
		}
		if err == nil && m.Seq < first.Seq {
			err = fmt.Errorf("the log begins with list %d", first.Seq)
		}
		if err != nil {
			return nil, err
		}
		end = m.Seq
	}
	now := grid.Time(0)
	if path == "" && at == "" {
		now = grid.TimeOf(env.Now())
	}
	return jobstory.Read(log, job, task, end, now, outlook.Options{},
		func(err error) { fmt.Fprintf(env.Stderr, "quill why: %v\n", err) })
}
