package log

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/frame"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
)

func (c command) verify() *cli.Command {
	return &cli.Command{
		Name: "verify", Usage: "check every frame of the log against the one before, and every stored state",
		Flags: []cli.Flag{logFlag, opt.JSONFlag()}, Action: c.check,
	}
}

// check reads everything and says what is good, and the first damage.
func (c command) check(x *cli.Context) error {
	if x.Args().Present() {
		return opt.Usagef("log verify takes no %q", x.Args().First())
	}
	l, err := c.open(x.Context, logOf(x), nil)
	if err != nil {
		return err
	}
	defer l.Close()
	r := l.Check()
	var files []history.FileDamage
	if dir := logOf(x); dir != "" {
		if files, err = history.BackupDamages(dir); err != nil {
			return err
		}
	}
	if x.Bool("json") {
		d := checkOf(r, l.About(), files)
		if err := document.Write(c.env.Stdout, d); err != nil || d.Good {
			return err
		}
		return cli.Exit("", 1)
	}
	if r.Lists > 0 {
		fmt.Fprintf(c.env.Stdout, "good: %d lists (%d events) of %d epochs, from %s to %s\n", r.Lists, r.Events, r.Epochs,
			c.mark(r.First), c.mark(r.Last))
	} else {
		fmt.Fprintln(c.env.Stdout, "no lists")
	}
	broken := 0
	for _, s := range r.States {
		if s.Err != nil {
			broken++
			fmt.Fprintf(c.env.Stdout, "state %s cannot be used: %v\n", s.Name, s.Err)
			continue
		}
		fmt.Fprintf(c.env.Stdout, "good: full state at %s\n", c.mark(s.Mark))
	}
	for _, note := range notes(l.About()) {
		fmt.Fprintln(c.env.Stdout, "note:", note)
	}
	for _, f := range files {
		fmt.Fprintln(c.env.Stdout, "file of the backup:", f)
	}
	switch {
	case r.Damage == nil && broken == 0 && len(files) == 0:
		return nil
	case r.Damage == nil && broken == 0:
		return cli.Exit(fmt.Sprintf("quill log: %s of the backup cannot be used; the lists are good",
			opt.Count(len(files), "file")), 1)
	case r.Damage == nil:
		return cli.Exit(fmt.Sprintf("quill log: %d states cannot be used; the lists are all there", broken), 1)
	}
	var d *frame.Damage
	errors.As(r.Damage, &d)
	text := fmt.Sprintf("quill log: the log is damaged after %s: %s", c.mark(r.Last), d.Reason)
	if r.Lists == 0 {
		text = "quill log: the log is damaged: " + d.Reason
	}
	if len(r.Beyond) > 0 {
		text += fmt.Sprintf("\nafter the damage, reading can continue from the state at %s", c.mark(r.Beyond[0]))
	}
	return cli.Exit(text, 1)
}
