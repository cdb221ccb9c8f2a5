package main

import (
	"errors"
	"fmt"
	"io"
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
			Flags: []cli.Flag{opt.DirFlag(),
				&cli.StringFlag{Name: "public", Usage: "register this `KEY`, which its owner made, instead of making one"},
				opt.JSONFlag()},
			Action: keyAction(env, 1, func(c *cli.Context, cell cell.Cell) error {
				name := r.Name
				if c.Args().Present() {
					name = c.Args().First()
				}
				if name == "" {
					return opt.Usagef("key %s: needs a name", r.Role)
				}
				return addKey(c, env, cell, keys.Who{Role: r.Role, Name: name})
			}),
		})
	}
	c.Subcommands = append(c.Subcommands, &cli.Command{
		Name: "own", Usage: "make a key for yourself and print what the administrator is to register",
		Flags:  []cli.Flag{opt.DirFlag(), opt.JSONFlag()},
		Action: keyAction(env, 0, func(c *cli.Context, cell cell.Cell) error { return ownKey(c, env, cell) }),
	}, &cli.Command{
		Name: "list", Usage: "print the registered keys",
		Flags:  []cli.Flag{opt.DirFlag(), opt.JSONFlag()},
		Action: keyAction(env, 0, func(c *cli.Context, cell cell.Cell) error { return listKeys(env, cell, c.Bool("json")) }),
	}, &cli.Command{
		Name: "revoke", Usage: "revoke all keys of an identity, or one key", ArgsUsage: "ROLE NAME | PUBLICKEY",
		Flags:  []cli.Flag{opt.DirFlag(), opt.JSONFlag()},
		Action: keyAction(env, 2, func(c *cli.Context, cell cell.Cell) error { return revokeKeys(c, env, cell) }),
	})
	return c
}

// keyAction finds the cell for a command that takes so many words at most.
func keyAction(env opt.Env, wordsMax int, do func(*cli.Context, cell.Cell) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.NArg() > wordsMax {
			return opt.Usagef("key %s: too many words (options come first): %q", c.Command.Name, c.Args().Slice())
		}
		cell, err := opt.CellOf(env, c)
		if err != nil {
			return err
		}
		return do(c, cell)
	}
}

func addKey(c *cli.Context, env opt.Env, cell cell.Cell, who keys.Who) error {
	if public := c.String("public"); public != "" {
		if err := keys.Register(cell, who, public); err != nil {
			return err
		}
		return printKey(c, env, keys.Key{Identity: who, Public: public}, "", true, fmt.Sprintf("%s is registered\n", who))
	}
	key, file, err := keys.Issue(cell, who)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s is registered; the secret key is in\n  %s\n", who, file)
	if at := cell.KeyFile(who); at == file {
		text += "It belongs at the same place on the host where it is used, readable by its daemon only.\n"
	} else {
		text += fmt.Sprintf("It belongs into ~/.quill/%s.nk of %s, readable by no other user.\n", cell.Name, who.Name)
	}
	return printKey(c, env, key, file, true, text)
}

func ownKey(c *cli.Context, env opt.Env, at cell.Cell) error {
	name, err := cell.Me()
	if err != nil {
		return fmt.Errorf("key own: %w", err)
	}
	key, file, err := keys.Own(at, name)
	if err != nil {
		return err
	}
	return printKey(c, env, key, file, false,
		fmt.Sprintf("the secret key is in %s\nto be registered by the administrator:\n  quill key user --public %s %s\n",
			file, key.Public, name))
}

// printKey prints what became of a key, as text or with --json as a document.
func printKey(c *cli.Context, env opt.Env, key keys.Key, file string, registered bool, text string) error {
	if c.Bool("json") {
		k := keyRow(key)
		return document.Write(env.Stdout, document.MadeKey{Role: k.Role, Name: k.Name, Public: k.Public, File: file,
			Registered: registered})
	}
	_, err := fmt.Fprint(env.Stdout, text)
	return err
}

func keyRow(k keys.Key) document.Key {
	return document.Key{Role: string(k.Identity.Role), Name: k.Identity.Name, Public: k.Public}
}

func listKeys(env opt.Env, cell cell.Cell, json bool) error {
	list, err := keys.List(cell)
	if err != nil {
		return err
	}
	if json {
		return printKeys(env, list)
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, k := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", k.Identity.Role, k.Identity.Name, k.Public)
	}
	return w.Flush()
}

func printKeys(env opt.Env, list []keys.Key) error {
	var rows []document.Key
	for _, k := range list {
		rows = append(rows, keyRow(k))
	}
	return document.Write(env.Stdout, document.Keys{Keys: document.RowsOf(rows)})
}

func revokeKeys(c *cli.Context, env opt.Env, cell cell.Cell) error {
	words := c.Args().Slice()
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
			return opt.Usagef("key revoke: %q is no role", words[0])
		}
	default:
		return opt.Usagef("key revoke: needs a role and a name, or a public key")
	}
	gone, err := keys.Revoke(cell, public, who)
	if c.Bool("json") && len(gone) > 0 {
		return errors.Join(printKeys(env, gone), err)
	}
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
			opt.JSONFlag(),
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
			return printFile(c, env, "nats",
				func(out io.Writer) error { return keys.Config(out, list, c.String("store"), c.Bool("durable")) })
		},
	}
}
