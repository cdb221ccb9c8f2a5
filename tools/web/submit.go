package web

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/submit"
	"github.com/quill-grid/quill/pkg/switches"
)

// Submission is a job to be: options of qsub, and either a command or a script.
type Submission struct {
	Options []string `json:"options,omitempty" doc:"words of qsub, as -N sim -l h_rt=3600; those that mean files of the submitting host are refused: -cwd, -@, -jsv" maxItems:"10000"`
	Command []string `json:"command,omitempty" doc:"a program on the execution host and its arguments, as qsub -b y" maxItems:"10000"`
	Script  string   `json:"script,omitempty" doc:"the text of a job script; its #$ lines are read"`
	Args    []string `json:"args,omitempty" doc:"arguments of the script" maxItems:"10000"`
}

// Submitted is a job that was made.
type Submitted struct {
	Result
	Job uint32 `json:"job" doc:"number of the job; 0: verified only, -w v or -w p"`
}

// origin is what a submission reads: nothing of this host. Its user is that of the token.
func (s *Server) origin(user, script string) submit.Origin {
	host, _ := os.Hostname()
	return submit.Origin{
		Stdin: strings.NewReader(script), Host: host, Now: s.options.Now, Away: true,
		Getenv: func(name string) string {
			if name == "LOGNAME" {
				return user
			}
			return ""
		},
	}
}

func (s *Server) registerSubmit() {
	op := operation(http.MethodPost, "/v1/jobs", "submit-job", "jobs", "Submit a job, as qsub")
	op.DefaultStatus = http.StatusCreated
	huma.Register(s.api, op, s.submit)
	changes(s, operation(http.MethodPatch, "/v1/jobs/{id}", "alter-job", "jobs", "Change attributes of a job, as qalter"), "qalter", s.alter)
	op = operation(http.MethodPost, "/v1/reservations", "make-reservation", "reservations", "Make an advance reservation, as qrsub")
	changes(s, op, "qrsub", func(in *struct {
		Writing
		Body struct {
			Options []string `json:"options" doc:"words of qrsub, as -a 202612241200 -d 3600 -pe mpi 4" maxItems:"10000"`
		}
	},
	) (gdi.Body, error) {
		ar, err := submit.Reservation(s.options.Now(), in.Body.Options)
		if err != nil {
			return nil, invalid("body.options", said(err))
		}
		return &gdi.Reserve{AR: ar}, nil
	})
}

// submit makes a job.
func (s *Server) submit(ctx context.Context, in *struct {
	Writing
	Body Submission
},
) (*change[Submitted], error) {
	j := &in.Body
	words, user := j.Options, accountOf(ctx).User()
	switch {
	case len(j.Command) > 0 && j.Script != "":
		return nil, invalid("body.script", fmt.Errorf("a job has a command or a script"))
	case len(j.Command) > 0 && len(j.Args) > 0:
		return nil, invalid("body.args", fmt.Errorf("the arguments of a command are in command"))
	}
	c := submit.Qsub(s.origin(user, j.Script))
	job := c.New(words)
	err := c.Parse(job, words)
	if err == nil && len(job.Command) > 0 {
		err = switches.Errorf("%q is not an option: a program is in command", job.Command[0])
	}
	if err != nil {
		return nil, invalid("body.options", said(err))
	}
	if len(j.Command) > 0 {
		words = slices.Concat(words, []string{"-b", "y"}, j.Command)
		job = c.New(words)
		if err := c.Parse(job, words); err != nil {
			return nil, invalid("body.command", said(err))
		}
	}
	if job, err = job.Complete(); err != nil {
		return nil, invalid("body.script", said(err))
	}
	if job.Sync || job.Verify || job.Format != (switches.Format{}) {
		return nil, invalid("body.options", fmt.Errorf("-sync, -verify and -fmt are for qsub: follow the job in /v1/events"))
	}
	job.Job.Spec.Args = append(job.Job.Spec.Args, j.Args...)
	var body gdi.Body = &gdi.Submit{Job: job.Job}
	if mode := job.Job.Spec.Verify; mode == "v" || mode == "p" {
		body = &gdi.Verify{Job: job.Job, Mode: mode}
	}
	reply, err := s.ask(ctx, in.Key, "qsub", body)
	if err != nil {
		return nil, err
	}
	return &change[Submitted]{Sequence: reply.Seq, Body: Submitted{resultOf(reply), reply.Job}}, nil
}

// alter makes the request of a qalter.
func (s *Server) alter(in *struct {
	Writing
	JobPath
	Body struct {
		Options []string `json:"options" doc:"words of qalter, as -p -10 -l h_rt=3600" maxItems:"10000" minItems:"1"`
		When    string   `json:"when,omitempty" enum:"on_reschedule,now" doc:"-when: now changes the limits of -l for running tasks, too; else they hold for tasks that start later"`
	}
},
) (gdi.Body, error) {
	var words []string
	if in.Body.When != "" {
		words = []string{"-when", in.Body.When}
	}
	return s.alteration(slices.Concat(words, in.Body.Options, []string{in.word()}), 1)
}

// alteration makes the request of a qalter of so many jobs: words are its command line. The error is a problem.
func (s *Server) alteration(words []string, jobs int) (gdi.Body, error) {
	c := submit.Qalter(s.origin("", ""))
	a := c.New(words)
	if err := c.Parse(a, words); err != nil {
		return nil, invalid("body.options", said(err))
	}
	if len(a.Jobs.Refs) != jobs || len(a.Jobs.Users) > 0 {
		return nil, invalid("body.options", fmt.Errorf("the job is that of the path"))
	}
	body, err := a.Alter()
	if err != nil {
		return nil, invalid("body.options", said(err))
	}
	return body, nil
}

// jobs is the job of a path.
func (p JobPath) jobs() (gdi.Jobs, error) {
	refs, err := switches.JobRefs(p.word())
	if err != nil {
		return gdi.Jobs{}, invalid("query.tasks", said(err))
	}
	return gdi.Jobs{Refs: refs}, nil
}
