package replay

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/schedd"
	"github.com/quill-grid/quill/tools/decide"
)

// decisions has the deciders run again on the states that were.
var decisions = analysis{
	name: "decide",
	flags: []cli.Flag{
		&cli.BoolFlag{Name: "decide", Usage: "decide every recorded run again and compare the orders; exit 1 when any differs"},
	},
	run: func(c *cli.Context, env opt.Env, log *history.Log) error {
		o := decide.Options{Algorithms: schedd.Algorithms()}
		var err error
		if o.From, err = seqOf(log, env, c.String("from")); err != nil {
			return err
		}
		if o.To, err = seqOf(log, env, c.String("to")); err != nil {
			return err
		}
		r, err := decide.Repeat(recorded{log}, o)
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

// recorded is a log whose deciders run again.
type recorded struct{ *history.Log }

// Full implements decide.Past.
func (r recorded) Full(seq uint64) (*state.State, error) {
	first, _ := r.Span()
	return r.Log.Full(max(seq, first.Seq))
}

// seqOf is the Seq that a user names; 0 for none.
func seqOf(log *history.Log, env opt.Env, text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	_, last := log.Span()
	m, err := opt.ParseMoment(text, last.At.Std().In(env.Now().Location()))
	if err != nil || m.Seq != 0 {
		return m.Seq, err
	}
	return log.SeqAt(m.At)
}
