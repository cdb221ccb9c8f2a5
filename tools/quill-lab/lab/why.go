package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/events"
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
		Name: "why", Usage: "explain a job from the log: why it waited, what started before it, how it ended; or why jobs wait",
		ArgsUsage: "[JOB[.TASK]|NAME]",
		Description: "Each step stands with the number of the list that contains it (qevent -from). For a job that waits it\n" +
			"also prints what would have to change for it to start: what is short and by how much, which queue\n" +
			"instances come closest, which jobs stand before it, and the earliest start that can be foreseen.\n" +
			"Without a job it says why tasks wait in the cell, each in one group; of a host or queue why it gets no more jobs.\n\n" +
			"   quill why 4711\n" +
			"   quill why --user alice\n" +
			"   quill why --host node3\n" +
			"   quill why 4711.3 --log week45.glog\n" +
			"   quill why 4711 --at 14:03:20",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "log",
				Usage:       "the log in `CELL-DIR|FILE`: the directory of a cell that does not run, a copy of one, or an exported file",
				DefaultText: "that of the cell"},
			&cli.StringFlag{Name: "at", Usage: "explain it as of `SEQ|TIME`, an event list or a time",
				DefaultText: "the end of the log"},
			&cli.StringFlag{Name: "user", Usage: "without a job: why tasks of `USER` wait", DefaultText: "of all users"},
			&cli.StringFlag{Name: "host", Usage: "without a job: why execution host `HOST` gets no more jobs"},
			&cli.StringFlag{Name: "queue",
				Usage: "without a job: why `QUEUE` gets no more jobs, a cluster queue or a queue instance"},
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
			w := whyRequest{env: env, path: c.String("log"), at: c.String("at")}
			switch {
			case len(words) > 1:
				return opt.Usagef("why: one JOB or JOB.TASK at a time, or none for all that wait")
			case len(words) == 1 && c.String("user") != "":
				return opt.Usagef("why: --user is for all jobs of a user: without a JOB")
			case c.IsSet("host") || c.IsSet("queue"):
				return w.printPlace(c, len(words))
			case len(words) == 0:
				cell, err := w.readCell(c.Context, c.String("user"))
				switch {
				case err != nil:
					return fmt.Errorf("why: %w", err)
				case c.Bool("json"):
					return document.Write(env.Stdout, *cell)
				}
				return cell.Print(env.Stdout)
			}
			job, task, err := opt.JobOf(words[0])
			if isName := !strings.ContainsAny(words[0][:1], "0123456789"); err != nil && isName {
				job, err = w.findJob(c.Context, words[0])
			}
			if err != nil {
				return fmt.Errorf("why: %w", err)
			}
			story, err := w.readStory(c.Context, job, task)
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

// whyRequest is which log is read, and until when.
type whyRequest struct {
	env      opt.Env
	path, at string
}

// open opens the log, from a place on when it is read to its end, and returns the list up to which it is asked for.
func (w *whyRequest) open(
	ctx context.Context, since func(context.Context, client.Client) (gdi.Place, error),
) (*history.Log, uint64, error) {
	source, err := history.Find(w.path, w.env.Getenv)
	if err != nil {
		return nil, 0, err
	}
	source.Odd = func(u *codec.Unreadable) { fmt.Fprintln(w.env.Stderr, "quill why:", u) }
	if w.at == "" {
		source.Since = since
	}
	log, err := history.Open(ctx, source)
	if err != nil {
		return nil, 0, err
	}
	first, last := log.Span()
	if w.at == "" {
		return log, math.MaxUint64, nil
	}
	m, err := opt.ParseMoment(w.at, last.At.Std())
	if err == nil && m.At != 0 {
		m.Seq, err = log.SeqAt(m.At)
	}
	if err == nil && m.Seq < first.Seq {
		err = fmt.Errorf("the log begins with list %d", first.Seq)
	}
	if err != nil {
		log.Close()
		return nil, 0, err
	}
	return log, m.Seq, nil
}

// now returns the present, if it is the end of the log that is asked for, else 0.
func (w *whyRequest) now() grid.Time {
	if w.path == "" && w.at == "" {
		return grid.TimeOf(w.env.Now())
	}
	return 0
}

// ask has the qmaster of the cell say why tasks wait. It is false when there is none to be asked, or when a log or a
// moment is named.
func (w *whyRequest) ask(ctx context.Context, with func(*client.Remote) error) (bool, error) {
	if w.path != "" || w.at != "" {
		return false, nil
	}
	source, err := history.Find("", w.env.Getenv)
	if err != nil {
		return false, err
	}
	r, err := client.Connect(ctx, source.Cell)
	if away := (*client.Unreachable)(nil); errors.As(err, &away) {
		return false, nil // its directory may be here
	}
	if err != nil {
		return false, err
	}
	defer r.Close()
	err = with(r)
	if refused := (*client.Refused)(nil); errors.As(err, &refused) && refused.Answer.Status == gdi.StatusUnknown {
		err = refused.Unwrap() // as the log says it
	}
	return true, err
}

// east is the time zone of the command, see gdi.Explain.
func (w *whyRequest) east() int32 {
	_, east := w.env.Now().Local().Zone()
	return int32(east)
}

// findJob returns the job of the cell that has a name, or one that matches a pattern, as qstat -j takes them.
func (w *whyRequest) findJob(ctx context.Context, name string) (uint32, error) {
	var ids []uint32
	get := gdi.Get{Kinds: []grid.Kind{grid.KindJob}, Where: gdi.Where{Names: grid.Names{name}, Brief: true}}
	asked, err := w.ask(ctx, func(r *client.Remote) error {
		_, err := r.Get(ctx, get, func(o grid.Object) error {
			ids = append(ids, o.Key().ID)
			return nil
		})
		return err
	})
	switch {
	case err != nil:
		return 0, err
	case !asked:
		return 0, fmt.Errorf("%q is no number of a job: names are known to the qmaster of the cell alone", name)
	case len(ids) == 0:
		return 0, fmt.Errorf("no job that waits or runs has the name %q; qacct -j finds those that have ended", name)
	case len(ids) > 1:
		return 0, fmt.Errorf("%d jobs have the name %q: give the number of one, as %d", len(ids), name, ids[0])
	}
	return ids[0], nil
}

// readStory returns the story of a job. qmaster is asked for that of a job of which no task has started; others had
// rivals, and are read from the log.
func (w *whyRequest) readStory(ctx context.Context, job, task uint32) (story *jobstory.Story, err error) {
	asked, err := w.ask(ctx, func(r *client.Remote) (err error) {
		b := gdi.Explain{Job: job, Task: task, East: w.east()}
		story, err = jobstory.ReadAnswer(job, task, w.now(), func(each func(events.List) error) (gdi.Reply, error) {
			return r.Explain(ctx, b, each)
		})
		return err
	})
	if err != nil || asked && story != nil {
		return story, err
	}
	log, end, err := w.open(ctx, func(ctx context.Context, c client.Client) (gdi.Place, error) {
		submit, err := client.Submitted(ctx, c, job)
		return gdi.Before(submit), err
	})
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return jobstory.Read(log, job, task, end, w.now(), outlook.Options{},
		func(err error) { fmt.Fprintf(w.env.Stderr, "quill why: %v\n", err) })
}

// readCell returns why tasks of a user, "" of all, wait.
func (w *whyRequest) readCell(ctx context.Context, user string) (tasks *jobstory.WaitingTasks, err error) {
	asked, err := w.ask(ctx, func(r *client.Remote) error {
		reply, err := r.Explain(ctx, gdi.Explain{User: user, East: w.east()}, func(events.List) error { return nil })
		if x := reply.Explanation; err == nil && x != nil {
			tasks = jobstory.WaitingGroups(reply.Seq, x.At, user, x.Groups)
		}
		return err
	})
	if err != nil || asked && tasks != nil {
		return tasks, err
	}
	err = w.openEnd(ctx, func(log *history.Log, seq uint64) error {
		st, err := log.Full(seq)
		if err == nil {
			tasks = jobstory.WaitingIn(st, user, w.now())
		}
		return err
	})
	return tasks, err
}

// openEnd opens the log where its end is needed alone, and calls f with the list up to which it is asked for.
func (w *whyRequest) openEnd(ctx context.Context, f func(log *history.Log, seq uint64) error) error {
	log, end, err := w.open(ctx, func(context.Context, client.Client) (gdi.Place, error) {
		return gdi.Place{At: grid.TimeOf(w.env.Now())}, nil
	})
	if err != nil {
		return err
	}
	defer log.Close()
	_, last := log.Span()
	return f(log, min(end, last.Seq))
}
