package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/submit"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/problem"
)

// Submission is a job to be: options of qsub, and either a command or a script.
type Submission struct {
	Options array[string] `json:"options,omitempty" doc:"words of qsub, as -N sim -l h_rt=3600; those that mean files of the submitting host are refused: -cwd, -@, -jsv" maxItems:"10000"`
	Command array[string] `json:"command,omitempty" doc:"a program on the execution host and its arguments, as qsub -b y" maxItems:"10000"`
	Script  string        `json:"script,omitempty" doc:"the text of a job script; its #$ lines are read"`
	Args    array[string] `json:"args,omitempty" doc:"arguments of the script" maxItems:"10000"`
}

// Submitted is a job that was made.
type Submitted struct {
	Result
	Job uint32 `json:"job" doc:"number of the job; 0: verified only, -w v or -w p"`
}

// origin is what a submission reads: nothing of this host. Its user is that of the token.
func (s *handlers) origin(user, script string) submit.Origin {
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

func (s *handlers) registerSubmit() {
	op := operation(http.MethodPost, "/v1/jobs", "submit-job", "jobs", "Submit a job, as qsub")
	op.DefaultStatus = http.StatusCreated
	huma.Register(s.api, op, s.submitJob)
	registerChange(s, operation(http.MethodPatch, "/v1/jobs/{id}", "alter-job", "jobs",
		"Change attributes of a job, as qalter"), "qalter", s.alterOf)
	op = operation(http.MethodPost, "/v1/reservations", "make-reservation", "reservations",
		"Make an advance reservation, as qrsub")
	op.DefaultStatus = http.StatusCreated
	huma.Register(s.api, op, s.makeReservation)
}

// made is the answer to a request that has made something.
type made[T any] struct {
	Sequence uint64 `header:"Quill-Sequence" doc:"number of the event list with the change, for ?after="`
	Location string `header:"Location" doc:"path of what was made; absent when it was verified only"`
	Body     T
}

// pathOf is the path of what was made under a number; "": nothing was.
func pathOf(list string, number uint32) string {
	if number == 0 {
		return ""
	}
	return fmt.Sprintf("/v1/%s/%d", list, number)
}

// Reserved is an advance reservation that was made.
type Reserved struct {
	Result
	Reservation uint32 `json:"reservation" doc:"number of the reservation; 0: verified only, -w v"`
}

// makeReservation makes a reservation.
func (s *handlers) makeReservation(ctx context.Context, in *struct {
	Numbered
	Body struct {
		Options []string `json:"options" doc:"words of qrsub, as -a 202612241200 -d 3600 -pe mpi 4" maxItems:"10000"`
	}
},
) (*made[Reserved], error) {
	words := in.Body.Options
	ar, err := submit.Reservation(s.options.Now(), words)
	if err != nil {
		return nil, badWords(words, 0, err)
	}
	c := submit.Qrsub(s.options.Now)
	reply, err := s.sendOnce(ctx, in.Key, "qrsub", in.Body, &gdi.Reserve{AR: ar},
		func(a gdi.Answer) string { return fieldOf(c, words, a, optionsField) })
	if err != nil {
		return nil, err
	}
	var number uint32
	for _, a := range reply.Answers {
		if a.About != nil {
			number = a.About.AR
		}
	}
	return &made[Reserved]{reply.Seq, pathOf("reservations", number), Reserved{resultOf(reply), number}}, nil
}

const optionsField = "body.options"

// badWords is the problem of options that cannot be read, before which the command line has so many words that are not
// among them.
func badWords(words []string, before int, err error) error {
	place := -1
	if at := (*switches.WordError)(nil); errors.As(err, &at) {
		place = at.Word - before
	}
	return problem.Invalid(element(optionsField, words, place), parserError(err))
}

// element is the location of a word of a list; of the list, when there is no such word.
func element(list string, words []string, i int) string {
	if i < 0 || i >= len(words) {
		return list
	}
	return fmt.Sprintf("%s[%d]", list, i)
}

// fieldOf is the location of the option that an answer is about, among the options of a request; other: of one that is
// not there.
func fieldOf[T any](c *switches.Command[T], words []string, a gdi.Answer, other string) string {
	if a.Status != gdi.StatusInvalid {
		return ""
	}
	if a.Field == "" || !slices.Contains(words, "-"+a.Field) {
		return other
	}
	return element(optionsField, words, c.Place(words, a.Field))
}

// submitJob makes a job.
func (s *handlers) submitJob(ctx context.Context, in *struct {
	Numbered
	Body Submission
},
) (*made[Submitted], error) {
	j := &in.Body
	words, user := j.Options.items, entry.AccountOf(ctx).User()
	switch {
	case len(j.Command.items) > 0 && j.Script != "":
		return nil, problem.Invalid("body.script", fmt.Errorf("a job has a command or a script"))
	case len(j.Command.items) > 0 && len(j.Args.items) > 0:
		return nil, problem.Invalid("body.args", fmt.Errorf("the arguments of a command are in command"))
	}
	c := submit.Qsub(s.origin(user, j.Script))
	job := c.New(words)
	err := c.Parse(job, words)
	if err == nil && len(job.Command) > 0 {
		err = switches.Errorf("%q is not an option: a program is in command", job.Command[0])
	}
	if err != nil {
		return nil, badWords(words, 0, err)
	}
	if len(j.Command.items) > 0 {
		words = slices.Concat(words, []string{"-b", "y"}, j.Command.items)
		job = c.New(words)
		if err := c.Parse(job, words); err != nil {
			return nil, problem.Invalid("body.command", parserError(err))
		}
	}
	if job, err = job.Complete(); err != nil {
		return nil, problem.Invalid("body.script", parserError(err))
	}
	if job.Sync || job.Verify || job.Format != (switches.Format{}) {
		return nil,
			problem.Invalid(optionsField, fmt.Errorf("-sync, -verify and -fmt are for qsub: follow the job in /v1/events"))
	}
	job.Job.Spec.Args = append(job.Job.Spec.Args, j.Args.items...)
	var body gdi.Body = &gdi.Submit{Job: job.Job}
	if mode := job.Job.Spec.Verify; mode == "v" || mode == "p" {
		body = &gdi.Verify{Job: job.Job, Mode: mode}
	}
	reply, err := s.sendOnce(ctx, in.Key, "qsub", in.Body, body,
		func(a gdi.Answer) string { return fieldOf(c, j.Options.items, a, j.field(a)) })
	if err != nil {
		return nil, err
	}
	return &made[Submitted]{reply.Seq, pathOf("jobs", reply.Job), Submitted{resultOf(reply), reply.Job}}, nil
}

// field is the location of what an answer is about that is not among the options: a line of the script, or the program,
// after which the job is called.
func (j *Submission) field(a gdi.Answer) string {
	switch {
	case j.Script != "":
		return "body.script"
	case a.Field == "N":
		return element("body.command", j.Command.items, 0)
	}
	return optionsField
}

// alterJob is the input of a qalter.
type alterJob struct {
	JobPath
	Body struct {
		Options []string `json:"options" doc:"words of qalter, as -p -10 -l h_rt=3600" maxItems:"10000" minItems:"1"`
		When    string   `json:"when,omitempty" enum:"on_reschedule,now" doc:"-when: now changes the limits of -l for running tasks, too; else they hold for tasks that start later"`
	}
}

func (in *alterJob) where(a gdi.Answer) string {
	if a.Status != gdi.StatusInvalid {
		return in.JobPath.where(a)
	}
	other := optionsField
	if a.Field == "when" {
		other = "body.when"
	}
	return fieldOf(submit.Qalter(submit.Origin{}), in.Body.Options, a, other)
}

// alterOf makes the request of a qalter.
func (s *handlers) alterOf(in *alterJob) (gdi.Body, error) {
	var words []string
	if in.Body.When != "" {
		words = []string{"-when", in.Body.When}
	}
	return s.alterRequest(words, in.Body.Options, in.word(), 1)
}

// alterRequest makes the request of a qalter of so many jobs, before whose options there are other words. The error is
// a problem.
func (s *handlers) alterRequest(before, options []string, operand string, jobs int) (gdi.Body, error) {
	c, words := submit.Qalter(s.origin("", "")), slices.Concat(before, options, []string{operand})
	a := c.New(words)
	if err := c.Parse(a, words[:len(words)-1]); err != nil { // an option that lacks its argument would take the operand
		return nil, badWords(options, len(before), err)
	}
	a = c.New(words)
	if err := c.Parse(a, words); err != nil {
		return nil, badWords(options, len(before), err)
	}
	if len(a.Jobs.Refs) != jobs || len(a.Jobs.Users) > 0 {
		return nil, problem.Invalid(optionsField, fmt.Errorf("the job is that of the path"))
	}
	body, err := a.Alter()
	if err != nil {
		return nil, problem.Invalid(optionsField, parserError(err))
	}
	return body, nil
}

// jobRefs is the job of a path.
func (p JobPath) jobRefs() (gdi.Jobs, error) {
	refs, err := switches.JobRefs(p.word())
	if err != nil {
		return gdi.Jobs{}, problem.Invalid("query.tasks", parserError(err))
	}
	return gdi.Jobs{Refs: refs}, nil
}
