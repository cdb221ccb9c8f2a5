package opt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/switches"
)

// Request does requests one after the other and prints the answers as Print does, or all of
// them as one document. It returns the replies and the exit status: 1 when something was refused
// or there is no qmaster, which is an error of the document.
func (e Env) Request(
	ctx context.Context, f switches.Format, command string, bodies ...gdi.Body,
) (replies []gdi.Reply, code int) {
	c, err := e.Connect(ctx)
	if err == nil {
		defer c.Close()
	}
	for _, body := range bodies {
		var reply gdi.Reply
		if err == nil {
			reply, err = c.Do(ctx, command, body)
		}
		if err != nil {
			break
		}
		replies = append(replies, reply)
		if !f.JSON() {
			code = max(code, e.Print(reply.Answers))
		}
	}
	switch {
	case f.JSON():
		return replies, e.Results(err, replies...)
	case err != nil:
		return replies, e.Report(err, 1)
	}
	return replies, code
}

// Results prints the document of replies, with err, unless nil, as its last error. It returns
// the exit status: 1 with an error.
func (e Env) Results(err error, replies ...gdi.Reply) int {
	var failed []document.RequestError
	if err != nil {
		failed = append(failed, RequestError(err))
	}
	if err := document.Write(e.Stdout, document.ResultsOf(replies, failed...)); err != nil {
		fmt.Fprintln(e.Stderr, err)
		return 1
	}
	if err != nil || slices.ContainsFunc(replies, func(r gdi.Reply) bool { return !r.OK() }) {
		return 1
	}
	return 0
}

// In returns the environment of a command whose output has a format: with JSON, errors are a document on stdout.
func (e Env) In(f switches.Format) Env {
	e.json = f.JSON()
	return e
}

// Report prints an error, as a document when the output is JSON, and returns the exit status: code.
func (e Env) Report(err error, code int) int {
	if e.json {
		e.Results(err)
		return code
	}
	if err.Error() != "" {
		fmt.Fprintln(e.Stderr, err)
	}
	e.PrintHint(err)
	return code
}

// Document prints a listing as a document with the errors of what was requested and is not in it, and returns the exit
// status: 1 with such an error.
func (e Env) Document(d document.Document, failed ...error) int {
	return e.DocumentTo(e.Stdout, d, func() []error { return failed })
}

// DocumentTo is Document for a listing whose errors are known after its rows.
func (e Env) DocumentTo(w io.Writer, d document.Document, failed func() []error) (code int) {
	err := document.WriteWith(w, d, func() (list []document.RequestError) {
		for _, err := range failed() {
			list, code = append(list, RequestError(err)), 1
		}
		return list
	})
	if err != nil {
		fmt.Fprintln(e.Stderr, err)
		return 1
	}
	return code
}

// RequestError returns an error as documents have it. One without a text, with which commands end silently, selects
// nothing.
func RequestError(err error) document.RequestError {
	text := cmp.Or(err.Error(), "nothing is selected")
	var refusal *gdi.Refusal
	var usage *switches.Error
	var away *client.Unreachable
	switch {
	case errors.As(err, &refusal):
		out := document.ErrorOf(refusal.Answer)
		out.Text = text
		return out
	case errors.As(err, &usage):
		return document.RequestError{Code: gdi.StatusInvalid.Code(), Text: text}
	case errors.As(err, &away):
		return document.RequestError{Code: gdi.StatusNoDaemon.Code(), Text: text}
	}
	return document.RequestError{Code: "failed", Text: text}
}

// Answers are those of replies.
func Answers(replies []gdi.Reply) (out []gdi.Answer) {
	for _, r := range replies {
		out = append(out, r.Answers...)
	}
	return out
}
