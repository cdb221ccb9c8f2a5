package replay

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
)

// show runs a showing command on the past and returns its exit status.
func (r *replay) show(env opt.Env, p *past, words []string) int {
	env.Connect = func(context.Context) (client.Client, error) { return p, nil }
	env.Now = func() time.Time { return p.now }
	name, args := words[0], words[1:]
	if name == "qacct" && !slices.Contains(args, "-f") {
		if first, _ := r.log.Span(); first.Seq > 1 {
			fmt.Fprintf(env.Stderr, "quill replay: the log begins at %s: what ended before is not in it\n",
				clock(first.At.Std().In(p.now.Location())))
		}
		records := r.accounting(p.state.Seq)
		defer records.Close()
		env.Stdin, args = records, append([]string{"-f", "-"}, args...)
	}
	return programs[name](env, args)
}

// accounting is an accounting file of what had ended up to a list, as far as
// the log goes back.
func (r *replay) accounting(until uint64) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		var line []byte
		for l, err := range r.log.Lists(1) {
			if err != nil {
				in.CloseWithError(err)
				return
			}
			if l.Seq > until {
				break
			}
			for _, e := range l.Events {
				a, ok := e.Object.(*grid.Accounting)
				if !ok {
					continue
				}
				line = accounting.AppendLine(line[:0], a)
				if _, err := in.Write(line); err != nil {
					return
				}
			}
		}
		in.Close()
	}()
	return out
}
