package qevent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/events/filter"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
)

// options is what the words of a command line ask for.
type options struct {
	full, lists, json, diff bool
	from, to, log           string
	filter                  filter.Filter
}

func command() *switches.Command[options] {
	c := &switches.Command[options]{
		Name: "qevent", Usage: "[options]", Indent: 3, Column: 28,
		Unknown: func(word string) error {
			return &switches.Error{Text: "invalid option argument \"" + word + "\"", Help: true}
		},
		Prefix: "qevent: ",
		Legend: "\n" + opt.MomentLegend,
		Switches: []switches.Switch[options]{
			{Name: "from", Args: "moment", Help: "begin with the list of that number or time, not with what happens now",
				Take: switches.One,
				Set:  switches.Text(func(o *options) *string { return &o.from })},
			{Name: "to", Args: "moment", Help: "end after the list of that number or time", Take: switches.One,
				Set: switches.Text(func(o *options) *string { return &o.to })},
			{Name: "log", Args: "path", Help: "read a stopped cell's directory, a copy of one, or an exported file",
				Take: switches.One,
				Set:  switches.Text(func(o *options) *string { return &o.log })},
			flag("full", "first print the full state, as LIST events", func(o *options) { o.full = true }),
			flag("lists", "print when each list came about, and who asked for what", func(o *options) { o.lists = true }),
			flag("diff", "print what changed in each object, field by field", func(o *options) { o.diff = true }),
			flag("json", "print a JSON object for each event, on a line of its own", func(o *options) { o.json = true }),
		},
	}
	for _, condition := range filter.Legend() {
		c.Switches = append(c.Switches, switches.Switch[options]{
			Name: letters[condition[0]], Args: condition[0] + ",...", Help: "print only " + condition[1], Take: switches.One,
			Set: func(o *options, w []string) error { return o.filter.Add(condition[0], w[0]) }})
	}
	const noTest = "there is no test suite mode"
	c.Switches = append(c.Switches,
		flag("sm", "", func(*options) {}),
		flag("subscribe", "print events, which is what it does without this, too", func(*options) {}),
		switches.Switch[options]{Name: "ts", Refused: noTest}, switches.Switch[options]{Name: "testsuite", Refused: noTest},
		switches.Switch[options]{Name: "trigger", Take: switches.Two, Refused: "have a script read what qevent prints"},
		switches.Switch[options]{Name: "h", Set: func(*options, []string) error { return switches.ErrHelp }},
		switches.Switch[options]{Name: "help", Help: "print this help"},
	)
	return c
}

// flag is a switch without words after it.
func flag(name, help string, set func(*options)) switches.Switch[options] {
	return switches.Switch[options]{Name: name, Help: help, Set: func(o *options, _ []string) error { set(o); return nil }}
}

// letters are the switches of the filter's conditions, as Grid Engine's
// commands name them.
var letters = map[string]string{"kind": "kinds", "job": "j", "user": "u", "host": "host", "queue": "q",
	"cause": "cause", "has": "has"}

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command(), run) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

// Command is qevent as a command of a program that contains a server, which reads a cell's directory for it.
func Command(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "qevent", Hidden: true, SkipFlagParsing: true,
		Action: func(c *cli.Context) error { return cli.Exit("", Run(env, c.Args().Slice())) },
	}
}

func run(ctx context.Context, env opt.Env, o *options) int {
	r := &reader{options: o, print: o.text, zone: time.Local, out: env.Stdout, stderr: env.Stderr}
	if o.json {
		r.print, r.zone = document.WriteEvents, time.UTC
	}
	open := func(ctx context.Context, from uint64) (past, error) {
		source, err := history.Find(o.log, env.Getenv)
		if err != nil {
			return nil, err
		}
		source.From.Seq = from
		source.Odd = func(u *codec.Unreadable) { fmt.Fprintln(env.Stderr, "qevent:", u) }
		log, err := history.Open(ctx, source)
		return archive{log}, err
	}
	var err error
	if o.log != "" {
		err = r.replay(ctx, open)
	} else {
		err = r.watch(ctx, env, open)
	}
	switch {
	case err == nil || err == errOver:
		return 0
	case strings.HasPrefix(err.Error(), "error: "): // what all commands say
		fmt.Fprintln(env.Stderr, err)
	default:
		fmt.Fprintln(env.Stderr, "qevent:", err)
	}
	return 1
}

// watch prints the events of a running cell.
func (r *reader) watch(ctx context.Context, env opt.Env, open opener) error {
	c, err := env.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	w, ok := c.(watcher)
	if !ok {
		return errors.New("error: this connection receives no events")
	}
	if r.from != "" {
		err = r.replay(ctx, open)
	} else {
		err = r.until(env.Now())
	}
	if err != nil {
		return err
	}
	if r.timeTo > 0 {
		var stop func()
		ctx, stop = context.WithTimeout(ctx, r.timeTo.Std().Sub(env.Now()))
		defer stop()
	}
	f := &follower{reader: r, open: open, ctx: ctx}
	return f.follow(w)
}
