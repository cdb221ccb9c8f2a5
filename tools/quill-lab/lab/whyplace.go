package lab

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/tools/jobstory"
)

// printPlace prints why a host or queue gets no more jobs. words is how many jobs are named beside it.
func (w *whyRequest) printPlace(c *cli.Context, words int) error {
	host, queue := c.String("host"), c.String("queue")
	switch {
	case words > 0:
		return opt.Usagef("why: --host and --queue are for all jobs that wait: without a JOB")
	case c.IsSet("host") && c.IsSet("queue"):
		return opt.Usagef("why: --host or --queue, not both; --queue QUEUE@HOST is a queue instance")
	case host == "" && queue == "":
		return opt.Usagef("why: --host and --queue need a name")
	}
	var place *jobstory.WaitingPlace
	err := w.openEnd(c.Context, func(log *history.Log, seq uint64) error {
		st, err := log.Full(seq)
		if err == nil {
			place, err = jobstory.WaitingAt(st, host, queue, c.String("user"), w.now())
		}
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("why: %w", err)
	case c.Bool("json"):
		return document.Write(w.env.Stdout, *place)
	}
	return place.Print(w.env.Stdout)
}
