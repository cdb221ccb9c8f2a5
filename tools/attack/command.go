package attack

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/attack/attacker"
)

// Command attacks a throw-away cell.
func Command(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "attack", Usage: "attack a throw-away cell as a user, a host and a scheduler while an honest user works",
		Description: "Prints a table of what each attack did and of the bars that the cell must keep, and\n" +
			"exits with 1 if it did not keep one. As root it uses two accounts without privileges;\n" +
			"otherwise the attacks that need an account of their own are left out. Everything\n" +
			"happens on this machine, on loopback addresses, below one temporary directory.",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "duration", Value: 5 * time.Minute, Usage: "attack for a `TIME`"},
			&cli.StringSliceFlag{Name: "only", Usage: "only the attacks of these `NAME`s, or of families"},
			&cli.StringFlag{Name: "subject", Usage: "only subjects, as fields and routes, that have `TEXT` in their name"},
			&cli.BoolFlag{Name: "short", Usage: "only the attacks that take seconds, all at the same time"},
			&cli.BoolFlag{Name: "list", Usage: "list the attacks"},
			&cli.Uint64Flag{Name: "seed", Usage: "seed `N` of the messages and of the order of the subjects",
				DefaultText: "a new one for each run"},
			&cli.StringFlag{Name: "honest", Usage: "`ACCOUNT` of the honest user", DefaultText: "the first of a person"},
			&cli.StringFlag{Name: "attacker", Usage: "`ACCOUNT` of the attacker", DefaultText: "the next"},
			&cli.IntFlag{Name: "nice", Value: 19,
				Usage: "niceness `N` of the attacker's processes, the hosts and all jobs, which a real cell has on other machines. 0 on a machine with other work, which else leaves the hosts no time to start"},
			&cli.BoolFlag{
				Name: "untimed", Usage: "show the times, and do not judge them: for a machine with other work, with --nice 0"},
			opt.JSONFlag(),
			&cli.BoolFlag{Name: "keep", Usage: "keep the cell's directory"},
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return opt.Usagef("attack takes no %q", c.Args().First())
			}
			if c.Bool("list") {
				return list(env, c.Bool("json"))
			}
			o := options{
				Duration: c.Duration("duration"), Only: c.StringSlice("only"), Subject: c.String("subject"), Short: c.Bool("short"),
				Seed:   c.Uint64("seed"),
				Honest: c.String("honest"), Attacker: c.String("attacker"), Nice: c.Int("nice"), Untimed: c.Bool("untimed"),
				Keep: c.Bool("keep"), JSON: c.Bool("json"),
			}
			if !c.IsSet("seed") {
				o.Seed = rand.Uint64() >> 32
			}
			if o.Duration <= 0 || o.Nice < 0 || o.Nice > 19 {
				return opt.Usagef("attack: --duration must be positive and --nice between 0 and 19")
			}
			held, err := attackCell(c.Context, env, o)
			if err == nil && !held {
				err = cli.Exit("", 1)
			}
			return err
		},
		Subcommands: []*cli.Command{{
			Name: "be", Hidden: true, Usage: "be the process of an attack; the command starts it",
			Action: func(c *cli.Context) error { return attacker.Be(c.Context, env) },
		}, {
			Name: "work", Hidden: true, Usage: "be a job of the attacker; the attack submits it", SkipFlagParsing: true,
			Action: func(c *cli.Context) error { return attacker.Work(c.Args().Slice()) },
		}},
	}
}

func list(env opt.Env, json bool) error {
	if json {
		return document.Write(env.Stdout, listed())
	}
	t := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, a := range attacker.Attacks {
		var roles, notes []string
		for _, r := range a.Roles {
			roles = append(roles, string(r))
		}
		if a.Short {
			notes = append(notes, "short")
		}
		if a.Local {
			notes = append(notes, "needs root")
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", a.Name, strings.Join(roles, ", "), strings.Join(notes, ", "), a.Usage)
	}
	return t.Flush()
}
