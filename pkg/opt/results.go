package opt

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/switches"
)

// Request does requests one after the other and prints the answers as Print does, or all of
// them as one document. It returns the replies and the exit status: 1 when something was refused
// or there is no qmaster, which is an error of the document.
func (e Env) Request(ctx context.Context, f switches.Format, command string, bodies ...gdi.Body) (replies []gdi.Reply, code int) {
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
	if f.JSON() {
		return replies, e.Results(err, replies...)
	}
	if err != nil {
		fmt.Fprintln(e.Stderr, err)
		return replies, 1
	}
	return replies, code
}

// Results prints the document of replies, with err, unless nil, as its last error. It returns
// the exit status: 1 with an error.
func (e Env) Results(err error, replies ...gdi.Reply) int {
	var failed []document.RequestError
	if err != nil {
		code := "failed"
		if away := (*client.Unreachable)(nil); errors.As(err, &away) {
			code = gdi.StatusNoDaemon.Code()
		}
		failed = append(failed, document.RequestError{Code: code, Text: err.Error()})
	}
	if err := document.Write(e.Stdout, document.ResultsOf(replies, failed...)); err != nil {
		return e.Fail(err)
	}
	if err != nil || slices.ContainsFunc(replies, func(r gdi.Reply) bool { return !r.OK() }) {
		return 1
	}
	return 0
}

// Answers are those of replies.
func Answers(replies []gdi.Reply) (out []gdi.Answer) {
	for _, r := range replies {
		out = append(out, r.Answers...)
	}
	return out
}
