package replay

import (
	"bufio"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
)

// steps prints the events of the log, as qevent -json does.
var steps = analysis{
	name: "json",
	run: func(c *cli.Context, env opt.Env, log *history.Log) error {
		from, to, err := bounds(c, env, log)
		if err != nil {
			return err
		}
		first, _ := log.Span()
		out := bufio.NewWriter(env.Stdout)
		for l, err := range until(log, max(from, first.Seq), to) {
			if err != nil {
				return err
			}
			if err := document.WriteEvents(out, l, nil); err != nil {
				return err
			}
		}
		return out.Flush()
	},
}
