package replay

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/tools/decide"
)

// decisions has the deciders run again on the states that were.
var decisions = analysis{
	name: "decide",
	flags: []cli.Flag{
		&cli.BoolFlag{
			Name: "decide", Usage: "decide every recorded run again and compare the orders; exit 1 when any differs"},
	},
	run: func(c *cli.Context, env opt.Env, log *history.Log) error {
		o := decide.Selection{Algorithms: shipped.Algorithms()}
		var err error
		if o.From, o.To, err = bounds(c, env, log); err != nil {
			return err
		}
		r, err := decide.Repeat(log, o)
		if c.Bool("json") {
			if err := document.Write(env.Stdout, r); err != nil {
				return err
			}
		} else {
			r.Print(env.Stdout)
		}
		switch {
		case err != nil:
			return fmt.Errorf("replay --decide: %w", err)
		case r.Difference != nil:
			return cli.Exit("", 1)
		}
		return nil
	},
}

// bounds returns the first and the last list from --from to --to; 0: those of the log.
func bounds(c *cli.Context, env opt.Env, log *history.Log) (from, to uint64, err error) {
	_, last := log.Span()
	end := last.At.Std().In(env.Now().Location())
	for _, bound := range []struct {
		name  string
		seq   *uint64
		seqOf func(gdi.Place) (uint64, error)
	}{{"from", &from, log.Begin}, {"to", &to, log.End}} {
		text := c.String(bound.name)
		if text == "" {
			continue
		}
		place, err := opt.ParseMoment(text, end)
		if err != nil {
			return 0, 0, err
		}
		if *bound.seq, err = bound.seqOf(place); err != nil {
			return 0, 0, err
		}
	}
	return from, to, nil
}
