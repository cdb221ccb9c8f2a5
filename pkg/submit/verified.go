package submit

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
	"github.com/quill-grid/quill/pkg/jsv/script"
	"github.com/quill-grid/quill/pkg/userdb"
)

// Verified returns the job as the submission verifiers of -jsv correct it, one after the other: those of the command
// line, then of the script, of the request files of the working directory, the home and the cell. The command is what
// they see as CLIENT, and log receives what they log. It fails with the reason when one of them rejects the job.
func (s *Submission) Verified(ctx context.Context, command string, log func(text string)) (*grid.Job, error) {
	job, o := s.Job, s.origin
	if len(s.Verifiers) == 0 {
		return job, nil
	}
	from := Client{Context: "client", Program: command, User: o.userName(), Host: o.Host, Now: o.Now()}
	if group, err := userdb.GroupName(strconv.Itoa(os.Getgid())); err == nil {
		from.Group = group
	}
	for _, url := range slices.Backward(s.Verifiers) {
		by := script.Script{URL: url, Dir: o.Dir, Log: func(l jsv.LogMessage) { log(l.Text) }}
		if seconds, err := strconv.ParseUint(o.Getenv("SGE_JSV_TIMEOUT"), 10, 16); err == nil {
			by.Timeout = time.Duration(seconds) * time.Second
		}
		result, err := by.Verify(ctx, JSVJob(job, from))
		by.Close()
		switch {
		case err != nil:
			return nil, err
		case result.Refusal != "":
			return nil, errors.New(result.Refusal)
		}
		if job, err = Corrected(job, result.Corrections, from); err != nil {
			return nil, err
		}
	}
	return job, nil
}

// userName is the name of the user as the environment has it.
func (o Origin) userName() string { return cmp.Or(o.Getenv("LOGNAME"), o.Getenv("USER")) }
