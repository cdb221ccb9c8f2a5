package token

import (
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
)

// Command returns `quill token`.
func Command(env opt.Env) *cli.Command {
	env = env.Printable()
	return &cli.Command{
		Name: "token", Usage: "make, list and revoke tokens with which programs connect as you",
		Description: "A program that has QUILL_TOKEN in its environment connects with that token, and acts as the user who\n" +
			"made it, as far as its scope allows: read (listings and events), propose (also\n" +
			"changes that you approve with quill approve), submit (also what an ordinary user may do\n" +
			"to the own jobs and reservations), operate (all that the user may do).",
		Subcommands: []*cli.Command{{
			Name: "create", Usage: "make a token and print it, once",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "scope", Value: grid.ScopeRead.String(), Usage: "what it may be used for: `SCOPE` " +
					grid.ScopeNames},
				&cli.StringFlag{Name: "expires", Value: fmt.Sprintf("%dd", grid.TokenLife/(24*60*60)),
					Usage: "how long it lasts: `SPAN` such as 90m, 12h or 30d"},
				&cli.StringFlag{Name: "comment", Usage: "`TEXT` that the list shows"},
				opt.JSONFlag(),
			},
			Action: func(c *cli.Context) error {
				if c.Args().Present() {
					return opt.Usagef("token create: unexpected %q", c.Args().First())
				}
				return create(c, env)
			},
		}, {
			Name: "list", Usage: "list your tokens; for managers those of all users",
			Flags: []cli.Flag{&cli.StringFlag{Name: "user", Usage: "only those of this `USER`"}, opt.JSONFlag()},
			Action: func(c *cli.Context) error {
				if c.Args().Present() {
					return opt.Usagef("token list: unexpected %q", c.Args().First())
				}
				return list(c, env)
			},
		}, {
			Name: "revoke", Usage: "revoke tokens; their connections are closed", ArgsUsage: "NUMBER...",
			Flags:  []cli.Flag{opt.JSONFlag()},
			Action: func(c *cli.Context) error { return revoke(c, env) },
		}},
	}
}

func create(c *cli.Context, env opt.Env) error {
	want, err := Wanted(c)
	if err != nil {
		return fmt.Errorf("token create: %w", err)
	}
	want.Comment = c.String("comment")
	text, reply, err := Make(c.Context, env, want)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return document.Write(env.Stdout, document.CreatedToken{ID: reply.Token, Token: text, Scope: want.Scope.String()})
	}
	if env.PrintErrors(toStderr(reply.Answers)) != 0 {
		return cli.Exit("", 1)
	}
	_, err = fmt.Fprintln(env.Stdout, text)
	return err
}

// toStderr has answers printed on stderr, so that stdout has the token and nothing else.
func toStderr(answers []gdi.Answer) (out []gdi.Answer) {
	for _, a := range answers {
		a.Quality = gdi.Warning
		out = append(out, a)
	}
	return out
}

func list(c *cli.Context, env opt.Env) error {
	master, err := env.Connect(c.Context)
	if err != nil {
		return err
	}
	defer master.Close()
	st, err := client.Fetch(c.Context, master, gdi.Get{Kinds: []grid.Kind{grid.KindToken}})
	if err != nil {
		return err
	}
	tokens := st.Tokens()
	if user := c.String("user"); user != "" {
		tokens = nil
		for _, t := range st.Tokens() {
			if t.Owner == user {
				tokens = append(tokens, t)
			}
		}
	}
	if c.Bool("json") {
		return document.Write(env.Stdout, document.TokensOf(tokens))
	}
	if len(tokens) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "token\towner\tscope\tcreated\texpires\tcomment")
	for _, t := range tokens {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Owner, t.Scope, opt.Stamp(t.Created),
			opt.Stamp(t.Expires), t.Comment)
	}
	return w.Flush()
}

func revoke(c *cli.Context, env opt.Env) error {
	words, err := opt.Words(c)
	if err != nil {
		return fmt.Errorf("token revoke: %w", err)
	}
	if len(words) == 0 {
		return opt.Usagef("token revoke: which token? its number is needed, see `quill token list`")
	}
	var numbers []uint32
	for _, word := range words {
		n, err := strconv.ParseUint(word, 10, 32)
		if err != nil || n == 0 {
			return opt.Usagef("token revoke: %q is no number of a token, see `quill token list`", shown(word))
		}
		numbers = append(numbers, uint32(n))
	}
	if c.Bool("json") {
		reply, err := send(c.Context, env, &gdi.RevokeTokens{IDs: numbers})
		if code := env.Results(err, reply); code != 0 {
			return cli.Exit("", code)
		}
		return nil
	}
	reply, err := Revoke(c.Context, env, numbers...)
	if err != nil {
		return err
	}
	if env.PrintErrors(reply.Answers) != 0 {
		return cli.Exit("", 1)
	}
	return nil
}

// shown is a word without the secret that it may have.
func shown(word string) string {
	if number, _, ok := bus.ParseToken(word); ok {
		return bus.TokenText(number, "...")
	}
	return word
}
