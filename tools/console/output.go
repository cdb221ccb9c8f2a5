package console

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
)

// outputPage shows the end of an output file. Files have no history: it shows what is there now, and does not follow
// the cell.
var outputPage = page{path: "/jobs/{id}/output", name: "output", show: showOutput, still: true}

// Bounds of what is shown.
const (
	outputLines = 1000
	outputBytes = 150_000
)

// output is the end of an output file of a task.
type output struct {
	Job    uint32
	Task   string // of an array, "": none
	Array  bool
	Stderr bool
	File   *gdi.Part // nil: it cannot be read
	Text   string
	Begin  bool   // Text is all of the file
	All    string // address of the file as it grows
	Rest   string // likewise, of what comes after Text; "": the task has ended
}

// Path returns the address of the page for the other file.
func (o *output) Path(stream string) string {
	q := url.Values{"stream": {stream}}
	if o.Task != "" {
		q.Set("task", o.Task)
	}
	return "/jobs/" + strconv.Itoa(int(o.Job)) + "/output?" + q.Encode()
}

func showOutput(r *request) (any, error) {
	n, err := strconv.ParseUint(r.PathValue("id"), 10, 32)
	if err != nil || n == 0 {
		return nil, &Problem{Status: 404, Text: "A job has a number."}
	}
	o := &output{Job: uint32(n), Task: r.query.Get("task"), Stderr: r.query.Get("stream") == "err"}
	if j := r.moment.State.Job(o.Job); j != nil {
		o.Array = j.Array
	}
	o.Array = o.Array || o.Task != ""
	what := gdi.Output{Job: o.Job, Stderr: o.Stderr, Tail: outputLines}
	o.All = "/v1/jobs/" + strconv.Itoa(int(o.Job)) + "/output?follow=true&stream=" +
		map[bool]string{false: "out", true: "err"}[o.Stderr]
	if o.Task != "" {
		task, err := strconv.ParseUint(o.Task, 10, 32)
		if err != nil || task == 0 {
			return o, &Problem{Status: 422, Field: "task", Text: "A task has a number."}
		}
		what.Task = uint32(task)
		o.All += "&task=" + o.Task
	}
	o.File, err = r.session.Output(r.Context(), what)
	if p := (*Problem)(nil); errors.As(err, &p) {
		return o, &Problem{Status: p.Status, Field: "file", Text: p.Text}
	}
	if err != nil {
		return nil, err
	}
	o.Text, o.Begin = string(o.File.Data), o.File.Offset == 0
	if o.File.Running {
		o.Rest = o.All + "&offset=" + strconv.FormatUint(o.File.Next, 10)
	}
	if most := outputBytes >> r.halved; len(o.Text) > most {
		o.Text, o.Begin = strings.ToValidUTF8(o.Text[len(o.Text)-most:], ""), false
	}
	return o, nil
}
