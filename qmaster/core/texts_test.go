package core

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core/validate"
)

// forged is a text that makes a line of its own, and has a terminal do something.
const forged = "a\nFORGED: x\x1b[2J\tb"

// mayHave are the fields of objects in which a text of a user may have any character. What shows them writes them as
// one line.
var mayHave = []string{"JobSpec.Command", "JobSpec.Args", "JobSpec.Env.Text", "JobSpec.Connect",
	"JobSpec.SubmitCommand", "Launch.Args", "Launch.Env.Text", "Launch.Connect",
	"Proposal.Reason", "Proposal.Effect"}

// TestForgedLines puts a line end and an escape sequence into each text of each request and of a report: nothing that
// follows from it has them.
func TestForgedLines(t *testing.T) {
	cell := busyCell(t)
	for name, b := range messages() {
		if name == "orders" { // of the scheduler, which is trusted
			continue
		}
		t.Run(name, func(t *testing.T) {
			accepted := 0
			for i := range texts(reflect.ValueOf(decodeInput(t, name, b)).Elem(), "") {
				in := decodeInput(t, name, b)
				leaf := texts(reflect.ValueOf(in).Elem(), "")[i]
				leaf.value.SetString(forged)
				for _, r := range answersOf(cell, in) {
					accepted += len(r.List.Events)
					checkReady(t, leaf.field, r)
				}
			}
			if name == "report" && accepted == 0 {
				t.Error("the report changed nothing")
			}
		})
	}
}

// TestForgedJobs submits, alters and verifies jobs that are as they should be, but for the texts of one field.
func TestForgedJobs(t *testing.T) {
	cell := busyCell(t)
	job := func() *grid.Job {
		return &grid.Job{JobRequest: &grid.JobRequest{}, Name: "n", Spec: &grid.JobSpec{Command: "c"}}
	}
	accepted := grid.Names{}
	parts := func(j *grid.Job) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(j).Elem(), reflect.ValueOf(j.JobRequest).Elem(),
			reflect.ValueOf(j.Spec).Elem()}
	}
	for p, part := range parts(job()) {
		for i := range part.NumField() {
			field := part.Type().Name() + "." + part.Type().Field(i).Name
			for _, of := range []func(*grid.Job) gdi.Body{
				func(j *grid.Job) gdi.Body { return &gdi.Submit{Job: j} },
				func(j *grid.Job) gdi.Body { return &gdi.Verify{Job: j, Mode: "v"} },
				func(j *grid.Job) gdi.Body {
					b := &gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 1}}}, Job: j}
					for name := range validate.Attributes {
						b.Set = append(b.Set, name)
					}
					return b
				},
			} {
				j := job()
				v := parts(j)[p].Field(i)
				if v.Kind() == reflect.Pointer {
					continue // JobRequest and JobSpec themselves; a Binding has words of its own
				}
				full(v)
				for _, l := range texts(v, field) {
					l.value.SetString(forged)
					if strings.HasSuffix(l.field, ".Env.Name") {
						l.value.SetString("X")
					}
				}
				for _, r := range answersOf(cell, &gdi.Request{User: "root", Group: "root", Host: "m", Command: "x", Body: of(j)}) {
					if checkReady(t, field, r); len(r.List.Events) > 0 && !accepted.Has(field) {
						accepted = append(accepted, field)
					}
				}
			}
		}
	}
	for _, field := range []string{"JobSpec.Command", "JobSpec.Args", "JobSpec.Env", "JobSpec.SubmitCommand"} {
		if !accepted.Has(field) {
			t.Errorf("%s may have any character, and was refused", field)
		}
	}
	for _, field := range []string{"JobSpec.Cwd", "JobSpec.Stdout", "JobSpec.Stderr", "JobSpec.Stdin", "JobSpec.Shell",
		"JobSpec.Context", "JobSpec.SubmitHost"} {
		if accepted.Has(field) {
			t.Errorf("%s with a line end was accepted", field)
		}
	}
}

// TestForgedVariables uses names of environment variables that no shell has.
func TestForgedVariables(t *testing.T) {
	cell := busyCell(t)
	for _, name := range []string{"", "X\nPARAM l_hard h_rt=60", "1a", "a b", "a.b", "a-b", "a=b", "$(id)", "BASH_FUNC_%%",
		"BASH_FUNC_x;id%%", "BASH_FUNC_x", "é"} {
		for _, body := range []gdi.Body{
			&gdi.Submit{Job: &grid.Job{Name: "n", Spec: &grid.JobSpec{Command: "c", Env: grid.Values{{Name: name, Text: "1"}}}}},
			&gdi.Alter{Jobs: gdi.Jobs{Refs: []gdi.JobRef{{ID: 1}}}, Set: []string{"v"},
				Job: &grid.Job{Spec: &grid.JobSpec{Env: grid.Values{{Name: name, Text: "1"}}}}},
			&gdi.StartTask{Job: 2, Task: 1, Host: "h2",
				Launch: &grid.Launch{Args: []string{"x"}, Env: grid.Values{{Name: name, Text: "1"}}}},
		} {
			in := &gdi.Request{User: "alice", Group: "users", Host: "m", Command: "x", Body: body}
			for _, r := range answersOf(cell, in) {
				for _, e := range r.List.Events {
					if slices.Contains([]grid.Kind{grid.KindJob, grid.KindPETask}, e.Kind) && name != "BASH_FUNC_x" {
						t.Errorf("%s with a variable %q was accepted", body.Verb(), name)
					}
				}
			}
		}
	}
}

// decodeInput reads a message anew: a *gdi.Request or a *Report.
func decodeInput(t *testing.T, name string, b []byte) any {
	if name == "report" {
		r, err := codec.DecodeReport(b)
		if err != nil {
			t.Fatal(err)
		}
		return &Report{Report: r}
	}
	r, err := new(codec.Decoder).Request(b)
	if err != nil {
		t.Fatal(err)
	}
	r.User, r.Group, r.Host = "root", "root", "m"
	return &r
}

// stepped has a core of a cell decide on an input, and on what follows.
func answersOf(cell *state.State, in any) (out []Ready) {
	c := New(cell.Copy(), 2, testAlgorithms...)
	c.On("m")
	c.Reads(testFormat)
	now := grid.Time(1_700_000_100_000)
	c.Step(now, Scheduler{Name: "schedd"})
	switch in := in.(type) {
	case *gdi.Request:
		out = append(out, c.Step(now, UserRequest{Request: *in}))
	case *Report:
		in.Host = "h1" // which the connection says
		out = append(out, c.Step(now, *in))
	}
	return append(out, c.Step(now.Add(1), Tick{}))
}

// checkReady checks what a core has decided: events, answers, commands and mails.
func checkReady(t *testing.T, field string, r Ready) {
	t.Helper()
	check := func(where string, from any) {
		t.Helper()
		v := reflect.New(reflect.TypeOf(from))
		v.Elem().Set(reflect.ValueOf(from))
		for _, l := range texts(v.Elem(), "") {
			if text := l.value.String(); strings.Contains(text, "FORGED") && strings.ContainsAny(text, "\n\x1b") &&
				!slices.Contains(mayHave, l.field) {
				t.Errorf("%s: a text of %s is in %s (%s): %q", field, field, where, l.field, l.value.String())
			}
		}
	}
	if len(r.List.Events) > 0 {
		check("the cause", r.List.Cause)
	}
	for _, e := range r.List.Events {
		check(fmt.Sprintf("the event %s", e.Kind), events.Event{Op: e.Op, Kind: e.Kind, Key: e.Key, Object: e.Object})
	}
	for _, a := range r.Answers {
		if a.Reply != nil {
			check("the answer", *a.Reply)
		}
	}
	for _, m := range r.Mails {
		check("the subject of a mail", m.Subject)
	}
}

// leaf is a text, and the field that it is in.
type leaf struct {
	field string
	value reflect.Value
}

// texts are the texts below a value.
func texts(v reflect.Value, field string) (out []leaf) {
	switch v.Kind() {
	case reflect.String:
		return []leaf{{field, v}}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return texts(v.Elem(), field)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			out = append(out, texts(v.Index(i), field)...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Name() + "." + v.Type().Field(i).Name
			if v.Type() == reflect.TypeFor[grid.Value]() {
				name = field + "." + v.Type().Field(i).Name
			}
			out = append(out, texts(v.Field(i), name)...)
		}
	}
	return out
}
