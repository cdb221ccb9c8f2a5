package main

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/cell"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/keys"
)

// keyCommand keeps the list of who may come in over the network.
func keyCommand(env opt.Env) *cli.Command {
	c := &cli.Command{
		Name: "key", Usage: "make, list and revoke keys for connections over the network",
		Description: "Run it on qmaster's host as the user who runs qmaster. Changes take effect at once.",
	}
	for _, r := range keys.Roles {
		args := "NAME"
		if r.Name != "" {
			args = "[NAME]"
		}
		c.Subcommands = append(c.Subcommands, &cli.Command{
			Name: string(r.Role), Usage: "make a key for " + r.Usage, ArgsUsage: args,
			Flags: []cli.Flag{opt.DirFlag(), &cli.StringFlag{Name: "public", Usage: "register this `KEY`, which its owner made, instead of making one"}},
			Action: keyAction(env, 1, func(c *cli.Context, cell cell.Cell) error {
				name := r.Name
				if c.Args().Present() {
					name = c.Args().First()
				}
				if name == "" {
					return fmt.Errorf("key %s: needs a name", r.Role)
				}
				return addKey(env, cell, keys.Who{Role: r.Role, Name: name}, c.String("public"))
			}),
		})
	}
	c.Subcommands = append(c.Subcommands, &cli.Command{
		Name: "own", Usage: "make a key for yourself and print what the administrator is to register",
		Flags:  []cli.Flag{opt.DirFlag()},
		Action: keyAction(env, 0, func(_ *cli.Context, cell cell.Cell) error { return ownKey(env, cell) }),
	}, &cli.Command{
		Name: "list", Usage: "print the registered keys",
		Flags:  []cli.Flag{opt.DirFlag(), opt.JSONFlag()},
		Action: keyAction(env, 0, func(c *cli.Context, cell cell.Cell) error { return listKeys(env, cell, c.Bool("json")) }),
	}, &cli.Command{
		Name: "revoke", Usage: "revoke all keys of an identity, or one key", ArgsUsage: "ROLE NAME | PUBLICKEY",
		Flags:  []cli.Flag{opt.DirFlag()},
		Action: keyAction(env, 2, func(c *cli.Context, cell cell.Cell) error { return revokeKeys(env, cell, c.Args().Slice()) }),
	})
	return c
}

// keyAction finds the cell for a command that takes so many words at most.
func keyAction(env opt.Env, wordsMax int, do func(*cli.Context, cell.Cell) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.NArg() > wordsMax {
			return fmt.Errorf("key %s: too many words (options come first): %q", c.Command.Name, c.Args().Slice())
		}
		cell, err := opt.CellOf(env, c)
		if err != nil {
			return err
		}
		return do(c, cell)
	}
}

func addKey(env opt.Env, cell cell.Cell, who keys.Who, public string) error {
	if public != "" {
		if err := keys.Register(cell, who, public); err != nil {
			return err
		}
		_, err := fmt.Fprintf(env.Stdout, "%s is registered\n", who)
		return err
	}
	file, err := keys.Issue(cell, who)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s is registered; the secret key is in\n  %s\n", who, file)
	if at := cell.KeyFile(who); at == file {
		fmt.Fprintln(env.Stdout, "It belongs at the same place on the host where it is used, readable by its daemon only.")
	} else {
		fmt.Fprintf(env.Stdout, "It belongs into ~/.quill/%s.nk of %s, readable by no other user.\n", cell.Name, who.Name)
	}
	return nil
}

func ownKey(env opt.Env, at cell.Cell) error {
	name, err := cell.Me()
	if err != nil {
		return fmt.Errorf("key own: %w", err)
	}
	public, file, err := keys.Own(at, name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "the secret key is in %s\nto be registered by the administrator:\n  quill key user --public %s %s\n", file, public, name)
	return err
}

func listKeys(env opt.Env, cell cell.Cell, json bool) error {
	list, err := keys.List(cell)
	if err != nil {
		return err
	}
	if json {
		var rows []document.Key
		for _, k := range list {
			rows = append(rows, document.Key{Role: string(k.Identity.Role), Name: k.Identity.Name, Public: k.Public})
		}
		return document.Write(env.Stdout, document.Keys{Keys: document.RowsOf(rows)})
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, k := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", k.Identity.Role, k.Identity.Name, k.Public)
	}
	return w.Flush()
}

func revokeKeys(env opt.Env, cell cell.Cell, words []string) error {
	var public string
	var who keys.Who
	switch len(words) {
	case 1:
		public = words[0]
	case 2:
		for _, r := range keys.Roles {
			if string(r.Role) == words[0] {
				who = keys.Who{Role: r.Role, Name: words[1]}
			}
		}
		if who.Name == "" {
			return fmt.Errorf("key revoke: %q is no role", words[0])
		}
	default:
		return errors.New("key revoke: needs a role and a name, or a public key")
	}
	gone, err := keys.Revoke(cell, public, who)
	for _, k := range gone {
		fmt.Fprintf(env.Stdout, "the key %s of %s is revoked\n", k.Public, k.Identity)
	}
	return err
}

// natsConfigCommand prints what an external NATS server must know.
func natsConfigCommand(env opt.Env) *cli.Command {
	return &cli.Command{
		Name: "nats-config", Usage: "print the configuration of an external NATS server for the registered keys",
		Flags: []cli.Flag{
			opt.DirFlag(),
			&cli.BoolFlag{Name: "durable", Value: true, Usage: "sync each append to disk"},
			&cli.StringFlag{Name: "store", Value: "/var/lib/nats", Usage: "`DIR` on the server's host for its streams"},
		},
		Action: func(c *cli.Context) error {
			cell, err := opt.CellOf(env, c)
			if err != nil {
				return err
			}
			list, err := keys.List(cell)
			if err != nil {
				return err
			}
			return keys.Config(env.Stdout, list, c.String("store"), c.Bool("durable"))
		},
	}
}
