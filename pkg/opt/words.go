package opt

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/switches"
)

// Words returns the words of a command that are no options, and sets the options that stand between and after them.
func Words(c *cli.Context) (words []string, err error) {
	set := flag.NewFlagSet(c.Command.Name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for _, f := range c.Command.Flags {
		if err := f.Apply(set); err != nil {
			return nil, err
		}
	}
	for rest := c.Args().Slice(); len(rest) > 0; {
		words = append(words, rest[0])
		if err := set.Parse(rest[1:]); err != nil {
			return nil, err
		}
		rest = set.Args()
	}
	set.Visit(func(given *flag.Flag) {
		for _, f := range c.Command.Flags {
			if !slices.Contains(f.Names(), given.Name) {
				continue
			}
			for _, name := range f.Names() {
				err = errors.Join(err, c.Set(name, given.Value.String()))
			}
		}
	})
	return words, err
}

// JobOf reads JOB or JOB.TASK; task is 0 without one, and with several as `qsub -terse` prints an array: JOB.1-9:2.
func JobOf(word string) (job, task uint32, err error) {
	refs, err := switches.JobRefs(word)
	if err != nil || len(refs) != 1 || refs[0].ID == 0 {
		return 0, 0, fmt.Errorf("%q names no job: a number was expected, or JOB.TASK", word)
	}
	if tasks := refs[0].Tasks; tasks.Count() == 1 {
		task = tasks.First()
	}
	return refs[0].ID, task, nil
}
