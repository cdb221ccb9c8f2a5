package proposal

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
)

// proposable are the commands whose changes can be proposed.
var proposable = []string{"qalter", "qconf", "qdel", "qhold", "qmod", "qrdel", "qresub", "qrls", "qrsub", "qsub"}

// Propose returns the command `quill propose`, which runs one of the programs.
func Propose(programs map[string]func(env opt.Env, args []string) int) func(opt.Env) *cli.Command {
	return func(env opt.Env) *cli.Command {
		return &cli.Command{
			Name: "propose", Usage: "propose what a command would change, for a person to approve",
			ArgsUsage: "-- COMMAND [ARGUMENT]...",
			Description: "The command runs as always, but its change is stored as a proposal and not carried out. A token of the\n" +
				"scope propose suffices.\n\n   quill propose --reason 'fits on node2' -- qalter -l h_vmem=2G 4711",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "agent", Usage: "`NAME` of the program that proposes the change"},
				&cli.StringFlag{Name: "reason", Usage: "`TEXT` that the person reads"},
				&cli.StringFlag{Name: "expires", Value: "24h", Usage: "how long it stays open: `SPAN` such as 90m, 12h or 7d"},
				&cli.BoolFlag{Name: "json", Usage: "print one JSON document, as -fmt json of the command"},
			},
			Action: func(c *cli.Context) error {
				words := c.Args().Slice()
				if len(words) == 0 {
					return opt.Usagef("propose: which command? It follows --, as in quill propose -- qdel 4711")
				}
				if !slices.Contains(proposable, words[0]) || programs[words[0]] == nil {
					return opt.Usagef("propose: %q changes nothing that can be proposed; commands that do: %v", words[0], proposable)
				}
				life, err := opt.ParseSpan(c.String("expires"))
				if err != nil || life <= 0 {
					return opt.Usagef("propose: --expires %q is no time span such as 90m, 12h or 7d", c.String("expires"))
				}
				about := gdi.Propose{Agent: c.String("agent"), Reason: c.String("reason"), Seconds: life.Seconds()}
				connect := env.Connect
				env.Connect = func(ctx context.Context) (client.Client, error) {
					master, err := connect(ctx)
					if err != nil {
						return nil, err
					}
					return Proposing(master, about), nil
				}
				args := words[1:]
				if c.Bool("json") {
					args = append([]string{"-fmt", "json"}, args...)
				}
				if code := programs[words[0]](env, args); code != 0 {
					return cli.Exit("", code)
				}
				return nil
			},
		}
	}
}
