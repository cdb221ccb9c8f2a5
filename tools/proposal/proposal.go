package proposal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
)

// List returns `quill proposals`.
func List(env opt.Env) *cli.Command {
	env = env.Printable()
	return &cli.Command{
		Name: "proposals", Usage: "list changes that programs have proposed, or show one", ArgsUsage: "[NUMBER]",
		Description: "You see your own proposals, a manager those of all users.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "also those that were decided on or have expired"},
			opt.JSONFlag()},
		Action: func(c *cli.Context) error { return list(c, env) },
	}
}

// Approve returns `quill approve`.
func Approve(env opt.Env) *cli.Command {
	return decision(env, gdi.Approve, &cli.Command{
		Name: "approve", Usage: "show a change that a program has proposed, and carry it out",
		Description: "The change is carried out with your rights, whole or not at all. It is refused when what it changes is not\n" +
			"as it was when it was proposed. The log has both names: who proposed it and who approved it.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "do not ask"}},
	})
}

// Reject returns `quill reject`.
func Reject(env opt.Env) *cli.Command {
	return decision(env, gdi.Reject, &cli.Command{Name: "reject", Usage: "reject a change that a program has proposed"})
}

func decision(env opt.Env, what gdi.Decision, command *cli.Command) *cli.Command {
	env = env.Printable()
	command.ArgsUsage = "NUMBER"
	command.Flags = append(command.Flags,
		&cli.StringFlag{Name: "comment", Usage: "`TEXT` that is stored with the decision"}, opt.JSONFlag())
	command.Action = func(c *cli.Context) error {
		words, err := opt.Words(c)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if c.Bool("help") {
			return cli.ShowSubcommandHelp(c)
		}
		if len(words) != 1 {
			return opt.Usagef("%s: which proposal? one number is needed, see `quill proposals`", what)
		}
		number, err := numberOf(words[0])
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return decide(c, env, what, number)
	}
	return command
}

func numberOf(word string) (uint32, error) {
	n, err := strconv.ParseUint(word, 10, 32)
	if err != nil || n == 0 {
		return 0, opt.Usagef("%q is no number of a proposal, see `quill proposals`", word)
	}
	return uint32(n), nil
}

// fetch returns the proposals that the user sees: all, or with a number this one.
func fetch(ctx context.Context, c client.Client, number uint32) ([]*grid.Proposal, error) {
	get := gdi.Get{Kinds: []grid.Kind{grid.KindProposal}}
	if number != 0 {
		get.Where.Keys = []grid.Key{{ID: number}}
	}
	st, err := client.Fetch(ctx, c, get)
	if err != nil {
		return nil, err
	}
	all := st.Proposals()
	if number != 0 && len(all) == 0 {
		return nil, gdi.Refuse(gdi.StatusUnknown, fmt.Sprintf("denied: you have no proposal %d", number))
	}
	return all, nil
}

func list(c *cli.Context, env opt.Env) error {
	words, err := opt.Words(c)
	if err == nil && len(words) > 1 {
		err = opt.Usagef("at most one number is expected")
	}
	if err != nil {
		return fmt.Errorf("proposals: %w", err)
	}
	if c.Bool("help") {
		return cli.ShowSubcommandHelp(c)
	}
	number := uint32(0)
	if len(words) == 1 {
		if number, err = numberOf(words[0]); err != nil {
			return fmt.Errorf("proposals: %w", err)
		}
	}
	master, err := env.Connect(c.Context)
	if err != nil {
		return err
	}
	defer master.Close()
	all, err := fetch(c.Context, master, number)
	if err != nil {
		return err
	}
	var shown []*grid.Proposal
	for _, p := range all {
		if number != 0 || c.Bool("all") || p.Status == grid.ProposalOpen {
			shown = append(shown, p)
		}
	}
	switch {
	case c.Bool("json"):
		return document.Write(env.Stdout, documentOf(shown))
	case number != 0:
		return show(env.Stdout, shown[0])
	case len(shown) == 0:
		return nil
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "proposal\tstatus\tproposed by\texpires\tchange")
	for _, p := range shown {
		first, _, _ := strings.Cut(p.Text, "\n")
		if n := strings.Count(p.Text, "\n"); n > 1 {
			first += " ..."
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", p.ID, p.Status, p.Proposer(), opt.Stamp(p.Expires), first)
	}
	return w.Flush()
}

func documentOf(list []*grid.Proposal) document.Proposals {
	var rows []document.Proposal
	for _, p := range list {
		rows = append(rows, document.ProposalOf(p, codec.Verbs(p)))
	}
	return document.Proposals{Proposals: document.RowsOf(rows)}
}

// show prints a proposal: the change as qmaster found it, and what the program says.
func show(out io.Writer, p *grid.Proposal) error {
	var b strings.Builder
	fmt.Fprintf(&b, "proposal %d by %s: %s", p.ID, p.Proposer(), p.Status)
	if p.Status == grid.ProposalOpen {
		fmt.Fprintf(&b, " until %s", opt.Stamp(p.Expires))
	} else {
		fmt.Fprintf(&b, " by %s at %s", p.Decided.By, opt.Stamp(p.Decided.At))
	}
	b.WriteByte('\n')
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s:\n  %s\n", title, strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  "))
		}
	}
	section("change", p.Text)
	section("reason, as the program says", p.Reason)
	section("effect, as the program says", p.Effect)
	section("comment", p.Decided.Comment)
	_, err := io.WriteString(out, b.String())
	return err
}

// decide shows the proposal before it is approved, and asks.
func decide(c *cli.Context, env opt.Env, what gdi.Decision, number uint32) error {
	master, err := env.Connect(c.Context)
	if err != nil {
		return err
	}
	defer master.Close()
	if what == gdi.Approve {
		found, err := fetch(c.Context, master, number)
		if err != nil {
			return err
		}
		shown := env.Stdout
		if c.Bool("json") {
			shown = env.Stderr
		}
		if err := show(shown, found[0]); err != nil {
			return err
		}
		if found[0].Status == grid.ProposalOpen && !c.Bool("yes") {
			if err := confirmed(env, shown); err != nil {
				return err
			}
		}
	}
	reply, err := master.Do(c.Context, "quill-"+string(what),
		&gdi.Decide{Proposal: number, Decision: what, Comment: c.String("comment")})
	if err != nil {
		return err
	}
	code := 0
	if c.Bool("json") {
		code = env.Results(nil, reply)
	} else {
		code = env.PrintErrors(reply.Answers)
	}
	if code != 0 {
		return cli.Exit("", code)
	}
	return nil
}

// confirmed asks the person at the terminal. It fails without a terminal, and unless the answer is yes.
func confirmed(env opt.Env, out io.Writer) error {
	if f, ok := env.Stdin.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return errors.New(
			"approve: there is no terminal to ask for confirmation; nothing was changed. Repeat the command with --yes")
	}
	fmt.Fprint(out, "Carry it out? [y/N] ")
	answer, _ := bufio.NewReader(env.Stdin).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return errors.New("approve: nothing was changed")
	}
	return nil
}
