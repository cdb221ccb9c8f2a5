package gdi

import (
	"reflect"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
)

// TestUnreadableOption: a refusal names the option that a user has given, not a field.
func TestUnreadableOption(t *testing.T) {
	job := func() *grid.Job { return &grid.Job{JobRequest: &grid.JobRequest{}, Spec: &grid.JobSpec{}} }
	fields := map[string]bool{}
	for _, of := range []reflect.Type{reflect.TypeFor[grid.Job](), reflect.TypeFor[grid.JobRequest](),
		reflect.TypeFor[grid.JobSpec]()} {
		for i := range of.NumField() {
			fields[of.Name()+"."+of.Field(i).Name] = true
		}
	}
	for field := range options {
		if !fields[field] {
			t.Errorf("there is no field %s", field)
		}
	}
	for want, set := range map[string]func(*grid.Job){
		`-o "a\nb" has a line end`:        func(j *grid.Job) { j.Spec.Stdout = grid.Names{"a\nb"} },
		`-wd "a\nb" has a line end`:       func(j *grid.Job) { j.Spec.Cwd = "a\nb" },
		`-ac "a\nb" has a line end`:       func(j *grid.Job) { j.Spec.Context = grid.Values{{Name: "x", Text: "a\nb"}} },
		`-soft -l "a\nb" has a line end`:  func(j *grid.Job) { j.Soft = grid.Requests{{Name: "x", Value: "a\nb"}} },
		`-hold_jid "a\nb" has a line end`: func(j *grid.Job) { j.PredecessorReq = grid.Names{"a\nb"} },
	} {
		j := job()
		set(j)
		if err := (&Request{Body: &Submit{Job: j}}).checkLines(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
