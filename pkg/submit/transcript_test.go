package submit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
	"github.com/quill-grid/quill/pkg/switches"
)

// TestWords executes the commands of testdata/words/*.txt. Each line of input is a command line, without the name of
// the command:
//
//	qsub, qrsh, qlogin   what the job has and "qsub true" has not, as -verify prints it; or why it is refused
//	qalter               which attributes are to be changed, of which jobs, and to what
//	qrsub                what is to be reserved
//	jsv                  the parameters that a verifier receives of a qsub line
//	correct WORDS        what a job has after a verifier has set NAME=VALUE, in each line; env NAME=VALUE: a variable
//
// What they read:
//
//	file NAME            a file in the working directory; in home/ and cell/ those of the user and the cell
//	env                  variables, NAME=VALUE in each line; stdin: the script
//
// There is a script named true.
//
// It is Friday, 2026-11-20 22:16:17, of user ana on host h1.
func TestWords(t *testing.T) {
	datadriven.Walk(t, "testdata/words", func(t *testing.T, path string) {
		d := &submitter{dir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(d.dir, "true"), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		datadriven.RunTest(t, path, func(t *testing.T, c *datadriven.TestData) string {
			run := wordCommands[c.Cmd]
			if run == nil {
				c.Fatalf(t, "unknown command %s", c.Cmd)
			}
			return strings.ReplaceAll(run(d, c), d.dir, "/data")
		})
	})
}

// submitter is a user with a working directory, an environment and standard input.
type submitter struct {
	dir     string
	environ []string
	stdin   string
}

var submitNow = time.Date(2026, 11, 20, 22, 16, 17, 0, time.UTC)

func (d *submitter) origin() Origin {
	variables := append([]string{"HOME=" + filepath.Join(d.dir, "home"), "LOGNAME=ana"}, d.environ...)
	return Origin{Stdin: strings.NewReader(d.stdin), Getenv: Variables(variables), Environ: d.environ, Dir: d.dir,
		Host:   "h1",
		Common: filepath.Join(d.dir, "cell"), Now: func() time.Time { return submitNow }}
}

var wordCommands map[string]func(*submitter, *datadriven.TestData) string

func init() {
	wordCommands = map[string]func(*submitter, *datadriven.TestData) string{
		"qsub":   (*submitter).jobs,
		"qrsh":   (*submitter).jobs,
		"qlogin": (*submitter).jobs,
		"qalter": func(d *submitter, c *datadriven.TestData) string { return d.each(c, d.alter) },
		"qrsub":  func(d *submitter, c *datadriven.TestData) string { return d.each(c, d.booking) },
		"jsv":    func(d *submitter, c *datadriven.TestData) string { return d.each(c, d.parameters) },
		"correct": func(d *submitter, c *datadriven.TestData) string {
			return strings.Join(d.corrected(c), "\n") + "\n"
		},
		"file": func(d *submitter, c *datadriven.TestData) string {
			path := filepath.Join(d.dir, c.CmdArgs[0].Key)
			text := strings.ReplaceAll(c.Input, "WORK", d.dir)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
				return err.Error() + "\n"
			}
			return ""
		},
		"env": func(d *submitter, c *datadriven.TestData) string {
			d.environ = strings.Fields(c.Input)
			return ""
		},
		"stdin": func(d *submitter, c *datadriven.TestData) string {
			d.stdin = c.Input
			return ""
		},
	}
}

// each is the answer to each line, below the line.
func (d *submitter) each(c *datadriven.TestData, answer func(words []string) []string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(c.Input, "\n") {
		b.WriteString(line + "\n")
		for _, text := range answer(switches.LineWords(line)) {
			b.WriteString("  " + text + "\n")
		}
	}
	return b.String()
}

func (d *submitter) jobs(c *datadriven.TestData) string {
	return d.each(c, func(words []string) []string {
		s, err := d.submission(c.Cmd, words)
		if err != nil {
			return refusal(err)
		}
		return s.fields()
	})
}

// submission is the whole job of a command line.
func (d *submitter) submission(name string, words []string) (*Submission, error) {
	table := map[string]func(Origin) *switches.Command[Submission]{"qsub": Qsub, "qrsh": Qrsh,
		"qlogin": Qlogin}[name](d.origin())
	s := table.New(words)
	if err := table.Parse(s, words); err != nil {
		return nil, err
	}
	return s.Complete()
}

// refusal is an error with the exit status that it brings, if it says which.
func refusal(err error) []string {
	var usage *switches.Error
	var script *ScriptError
	code := 0
	switch {
	case errors.As(err, &script):
		code = script.Code
	case errors.As(err, &usage):
		code = usage.Code
	}
	text := strings.ReplaceAll(err.Error(), "\n", " / ")
	if code == 0 {
		return []string{"refused: " + text}
	}
	return []string{fmt.Sprintf("refused (%d): %s", code, text)}
}

// usual are lines of -verify that most jobs have.
var usual = map[string]bool{"job_number: unassigned": true, "verify: -verify": true, "jobshare: 0": true,
	"notify: FALSE": true, "job_type: NONE": true,
	"job_name: true": true}

// fields are what the job has.
func (s *Submission) fields() (out []string) {
	job, spec, described := *s.Job, *s.Job.Spec, *s
	spec.Script, job.Spec, described.Job = nil, &spec, &job
	for line := range strings.Lines(described.Describe()) {
		name, value, isField := strings.Cut(strings.TrimSpace(line), ":")
		text := strings.TrimSpace(line)
		if isField {
			text = name + ": " + strings.TrimSpace(value)
		}
		if !usual[text] && !strings.HasPrefix(text, "sge_o_") && !strings.HasPrefix(text, "script_") && text != "" {
			out = append(out, text)
		}
	}
	for _, flag := range []struct {
		name string
		on   bool
	}{{"terse", s.Terse}, {"sync", s.Sync}, {"verify", s.Verify}, {"user hold", len(s.Job.UserHold) > 0}, {"terminal",
		s.Terminal() && s.Job.Immediate},
		{"no stdin", s.NoStdin}, {"verbose", s.Verbose}, {"inherit", s.Inherit}} {
		if flag.on {
			out = append(out, "+ "+flag.name)
		}
	}
	if b := s.Job.Binding; b != nil {
		out = append(out, "binding: "+b.String())
	}
	for _, w := range s.Warnings {
		out = append(out, w.Text)
	}
	return out
}

func (d *submitter) alter(words []string) []string {
	table := Qalter(d.origin())
	s := table.New(words)
	if err := table.Parse(s, words); err != nil {
		return refusal(err)
	}
	a, err := s.Alter()
	if err != nil {
		return refusal(err)
	}
	out := []string{"changes " + strings.Join(a.Set, " ")}
	for _, r := range a.Jobs.Refs {
		out = append(out, "jobs "+strings.Join(nonZero(reflect.ValueOf(r)), " "))
	}
	if len(a.Jobs.Users) > 0 {
		out = append(out, "users "+strings.Join(a.Jobs.Users, ","))
	}
	if a.HoldAdd != "" {
		out = append(out, "holds "+a.HoldAdd)
	}
	if a.HoldRemove != "" {
		out = append(out, "releases "+a.HoldRemove)
	}
	if a.Now {
		out = append(out, "now")
	}
	return append(out, s.fields()...)
}

func (d *submitter) booking(words []string) []string {
	table := Qrsub(func() time.Time { return submitNow })
	b := table.New(words)
	if err := table.Parse(b, words); err != nil {
		return refusal(err)
	}
	return nonZero(reflect.ValueOf(*b.AR))
}

// nonZero are the fields of a struct that have a value.
func nonZero(v reflect.Value) (out []string) {
	for i := range v.NumField() {
		f := v.Field(i)
		if f.IsZero() {
			continue
		}
		text := fmt.Sprint(f.Interface())
		switch o := f.Interface().(type) {
		case grid.Time:
			text = o.Std().UTC().Format("2006-01-02 15:04:05")
		case grid.Requests:
			text = o.Text()
		case grid.Ranges:
			text = o.String()
		case *grid.Binding:
			text = o.String()
		}
		out = append(out, v.Type().Field(i).Name+"="+text)
	}
	return out
}

var verifierClient = Client{Context: "client", Program: "qsub", User: "ana", Group: "staff", Host: "h1", Now: submitNow}

// parameters are those that say more than that there is a job.
func (d *submitter) parameters(words []string) (out []string) {
	s, err := d.submission("qsub", words)
	if err != nil {
		return refusal(err)
	}
	request := JSVJob(s.Job, verifierClient)
	for _, p := range request.Params {
		if !readOnly.Has(p.Name) && p.Value != "" {
			out = append(out, p.Name+" "+p.Value)
		}
	}
	for _, v := range request.Env {
		if !strings.HasPrefix(v.Name, "SGE_O_") {
			out = append(out, "env "+v.Name+"="+v.Text)
		}
	}
	return out
}

func (d *submitter) corrected(c *datadriven.TestData) []string {
	var words []string
	for _, a := range c.CmdArgs {
		words = append(words, a.String())
	}
	s, err := d.submission("qsub", append(words, "-b", "y", "true"))
	if err != nil {
		return refusal(err)
	}
	before := s.fields()
	var changes []jsv.Correction
	for line := range strings.Lines(c.Input) {
		text, env := strings.CutPrefix(strings.TrimSpace(line), "env ")
		name, value, _ := strings.Cut(text, "=")
		changes = append(changes, jsv.Correction{Param: jsv.Param{Name: name, Value: value}, Env: env})
	}
	job, err := Corrected(s.Job, changes, verifierClient)
	if err != nil {
		return refusal(err)
	}
	if after := s.fields(); !reflect.DeepEqual(before, after) {
		return append(after, "the job itself has been changed")
	}
	s.Job = job
	return s.fields()
}
