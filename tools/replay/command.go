package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
)

// analysis is a question to a log that is asked by a flag of its own.
type analysis struct {
	name  string     // of the flag that chooses it
	flags []cli.Flag // that one, and those that are for it alone
	run   func(c *cli.Context, env opt.Env, log *history.Log) error
}

// analyses are all there are.
var analyses = []analysis{decisions, whatIf}

// stretchFlags are for each analysis.
var stretchFlags = []cli.Flag{
	&cli.StringFlag{Name: "from", Usage: "--decide, --what-if or --json from `SEQ|TIME` on, a list or a time",
		DefaultText: "the beginning of the log"},
	&cli.StringFlag{Name: "to", Usage: "--decide, --what-if or --json up to `SEQ|TIME`",
		DefaultText: "the end of the log"},
	&cli.BoolFlag{
		Name: "json", Usage: "print JSON: the results of --decide or --what-if, else each event of the log on a line"},
}

// Command is quill replay.
func Command(env opt.Env) *cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "log",
			Usage:       "the log in `CELL-DIR|FILE`: the directory of a cell that does not run, a copy of one, or an exported file",
			DefaultText: "that of the cell"},
		&cli.StringFlag{Name: "at",
			Usage: "the moment `SEQ|TIME`: the number of an event list, 14:03:20, \"11/21/2026 14:03:20\", 2026-11-21T14:03:20, -10m (before the end of the log)", DefaultText: "the end of the log"},
	}
	for _, a := range analyses {
		flags = append(flags, a.flags...)
	}
	flags = append(flags, stretchFlags...)
	return &cli.Command{
		Name:      "replay",
		Usage:     "show the cell as it was: the output of a command at any list or time of the log, or the log step by step",
		ArgsUsage: "[COMMAND [OPTIONS]]",
		Description: "With a command, shows what it would have shown then:\n\n" +
			"   quill replay --at 14:03:20 qstat -f\n" +
			"   quill replay --log /backup/cell --at 4711 qconf -sq all.q\n\n" +
			"Commands are " + strings.Join(names(), ", ") + ".\n" +
			"Without one, steps through the log in the terminal; ? shows the keys.",
		Flags: flags,
		Action: func(c *cli.Context) error {
			return run(c, env)
		},
	}
}

// names are those of the programs.
func names() []string { return slices.Sorted(maps.Keys(programs)) }

func showsNothing(command string) error {
	return fmt.Errorf("%q is not a read-only command; only listings can be replayed: %s", command,
		strings.Join(names(), ", "))
}

func run(c *cli.Context, env opt.Env) error {
	terminal := env // for the interactive view, whose pages commands have filtered
	env = env.Printable()
	words := c.Args().Slice()
	if len(words) > 0 && programs[words[0]] == nil {
		return showsNothing(words[0])
	}
	asked, err := askedFor(c)
	if err != nil {
		return err
	}
	want := everything
	switch {
	case asked != nil || len(words) == 0:
	case words[0] == "qacct":
		want = before
	default:
		want = there
	}
	r, err := open(c.Context, env, c.String("log"), c.String("at"), want)
	if err != nil {
		return err
	}
	defer r.log.Close()
	if asked != nil {
		return asked.run(c, env, r.log)
	}
	if len(words) == 0 {
		return r.view(c.Context, terminal)
	}
	p := history.NewPlayer(r.log)
	defer p.Close()
	s, err := p.Seek(r.seq)
	if err != nil {
		return err
	}
	code := r.show(env, &past{state: s, now: r.now, host: env.Host}, words)
	return cli.Exit("", code)
}

// askedFor is the analysis that the flags ask for, if any. Flags that would mean
// nothing are refused.
func askedFor(c *cli.Context) (asked *analysis, err error) {
	for i, a := range analyses {
		switch {
		case !c.Bool(a.name):
		case asked != nil:
			return nil, opt.Usagef("replay: --%s and --%s are two questions; ask one", asked.name, a.name)
		default:
			asked = &analyses[i]
		}
	}
	for _, a := range analyses {
		for _, f := range a.flags {
			if name := f.Names()[0]; c.IsSet(name) && (asked == nil || asked.name != a.name) {
				return nil, opt.Usagef("replay: --%s goes with --%s only", name, a.name)
			}
		}
	}
	if asked == nil && c.Bool("json") {
		if c.Args().Present() {
			return nil, opt.Usagef("replay: --json prints the steps of the log; for the output of a command: %s -fmt json",
				c.Args().First())
		}
		asked = &steps
	}
	for _, f := range stretchFlags {
		if name := f.Names()[0]; c.IsSet(name) && asked == nil {
			return nil, opt.Usagef("replay: --%s goes with --decide, --what-if or --json", name)
		}
	}
	if asked != nil && (c.IsSet("at") || c.Args().Present()) {
		return nil,
			opt.Usagef("replay: --%s takes neither --at nor a command; --from and --to say of which stretch", asked.name)
	}
	return asked, nil
}

// replay is a log that is looked at, and where.
type replay struct {
	log  *history.Log
	name string // of the log, for people
	seq  uint64
	now  time.Time // the moment that was asked for; that of the list if one was
}

// stretch is how much of a log is wanted, for a qmaster that is asked for it.
type stretch int

const (
	everything stretch = iota
	before             // the place and what was before
	there              // the state at the place
)

// open finds the log and the place in it that a user named.
func open(ctx context.Context, env opt.Env, path, at string, want stretch) (*replay, error) {
	source, err := history.Find(path, env.Getenv)
	if err != nil {
		return nil, err
	}
	source.Odd = func(u *codec.Unreadable) { fmt.Fprintln(env.Stderr, "quill replay:", u) }
	now, at := env.Now(), strings.TrimPrefix(at, "@")
	if place, err := opt.ParseMoment(at, now); at == "" || err == nil {
		if at == "" {
			place = gdi.Place{Seq: math.MaxUint64} // the end
		}
		if want == there {
			source.From = place
		}
		if want != everything && !strings.HasPrefix(at, "-") { // the cell's end may be later than now here
			source.To = place
		}
	}
	log, err := history.Open(ctx, source)
	if err != nil {
		return nil, err
	}
	r := &replay{log: log, name: cmp.Or(path, source.Cell.Dir())}
	if err := r.find(at, now); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return r, nil
}

// find looks for the place; the log of a cell that runs ends now, where
// nothing has happened since its last list.
func (r *replay) find(at string, now time.Time) error {
	first, last := r.log.Span()
	live := false
	if all := r.log.About().Store; all != nil { // its qmaster has sent the range that was requested, and what there is
		first, last, live = all.First, all.Last, true
	}
	end := last.At.Std().In(now.Location())
	if live && now.After(end) {
		end = now
	}
	if at == "" {
		r.seq, r.now = last.Seq, end
		return nil
	}
	m, err := opt.ParseMoment(at, end)
	if err != nil {
		return err
	}
	span := fmt.Sprintf("it has lists %d to %d, %s to %s", first.Seq, last.Seq, clock(first.At.Std()),
		clock(last.At.Std()))
	switch {
	case m.Seq == 0 && m.At < first.At:
		return fmt.Errorf("%s is before the log begins: %s", clock(m.At.Std()), span)
	case m.Seq == 0 && m.At.Std().After(end):
		return fmt.Errorf("%s is after the end of the log: %s", clock(m.At.Std()), span)
	case m.Seq == 0:
		r.now = m.At.Std().In(now.Location())
		r.seq, err = r.log.SeqAt(m.At)
		return err
	case m.Seq < first.Seq || m.Seq > last.Seq:
		return fmt.Errorf("list %d is not in the log: %s", m.Seq, span)
	}
	r.seq = m.Seq
	for l, err := range r.log.Lists(m.Seq) {
		r.now = l.At.Std().In(now.Location())
		return err
	}
	r.now = cmp.Or(first.At, last.At).Std().In(now.Location()) // a state that was kept, without its list
	return nil
}
