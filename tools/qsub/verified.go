package qsub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
	"github.com/quill-grid/quill/pkg/jsv/script"
	"github.com/quill-grid/quill/pkg/opt"
)

// Verified is the job as the submission verifiers of -jsv let it pass, one after
// the other: those of the command line, then of the script, of the request files
// of the working directory, the home and the cell. The error says why it is
// rejected.
func Verified(ctx context.Context, env opt.Env, command string, s *opt.Submission) (*grid.Job, error) {
	job := s.Job
	if len(s.Verifiers) == 0 {
		return job, nil
	}
	from := opt.Asker{Context: "client", Client: command, User: cmp.Or(env.Getenv("LOGNAME"), env.Getenv("USER")), Host: env.Host, Now: env.Now()}
	if g, err := user.LookupGroupId(strconv.Itoa(os.Getgid())); err == nil {
		from.Group = g.Name
	}
	for _, url := range slices.Backward(s.Verifiers) {
		by := script.Script{URL: url, Dir: env.Dir, Log: func(l jsv.Log) { fmt.Fprintln(env.Stdout, l.Text) }}
		if seconds, err := strconv.ParseUint(env.Getenv("SGE_JSV_TIMEOUT"), 10, 16); err == nil {
			by.Timeout = time.Duration(seconds) * time.Second
		}
		verdict, err := by.Verify(ctx, opt.Wish(job, from))
		by.Close()
		switch {
		case err != nil:
			return nil, err
		case verdict.Refusal != "":
			return nil, errors.New(verdict.Refusal)
		}
		if job, err = opt.Corrected(job, verdict.Changes, from); err != nil {
			return nil, err
		}
	}
	return job, nil
}
