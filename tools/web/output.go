package web

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/problem"
)

const typeText = "text/plain; charset=utf-8"

// maybe is a number of a query that may be absent.
type maybe struct {
	value uint64
	set   bool
}

// Schema, Receiver and OnParamSet make it a parameter of huma.
func (maybe) Schema(r huma.Registry) *huma.Schema {
	s := huma.SchemaFromType(r, reflect.TypeFor[uint64]())
	zero, most := 0.0, float64(math.MaxInt64)
	s.Minimum, s.Maximum = &zero, &most
	return s
}
func (m *maybe) Receiver() reflect.Value      { return reflect.ValueOf(&m.value).Elem() }
func (m *maybe) OnParamSet(isSet bool, _ any) { m.set = isSet }

// outputQuery selects an output file and a part of it.
type outputQuery struct {
	ID     uint32 `path:"id" doc:"job number" minimum:"1"`
	Task   uint32 `query:"task" doc:"the task of an array"`
	Stream string `query:"stream" doc:"standard output or standard error; a job that was submitted with -j y has no file of standard error" enum:"out,err" default:"out"`
	Tail   uint32 `query:"tail" doc:"the last lines, so many at most; without it and offset as many as fit into 64 KiB"`
	Offset maybe  `query:"offset" doc:"the part begins at this byte: Quill-Output-Next of the part before"`
	Follow bool   `query:"follow" doc:"what is written is sent until the task has ended"`
}

// where is the field that qmaster's answer about the output is about.
func (in *outputQuery) where(a gdi.Answer) string {
	switch {
	case a.Field == "t":
		return "query.task"
	case a.Field == "o", a.Field == "e":
		return "query.stream"
	}
	return ifUnknown(a, "path.id")
}

// outputPart is a part of an output file, or with follow all from there on.
type outputPart struct {
	Path   string `header:"Quill-Output-Path" doc:"path of the file on the execution host"`
	Host   string `header:"Quill-Output-Host" doc:"execution host"`
	Offset uint64 `header:"Quill-Output-Offset" doc:"where the part begins; less than ?offset= when the file was truncated"`
	Next   string `header:"Quill-Output-Next" doc:"where the next part begins; absent with follow"`
	Size   uint64 `header:"Quill-Output-Size" doc:"bytes of the file when it was read"`
	Ended  bool   `header:"Quill-Output-Ended" doc:"nothing is written any more: the task had ended before"`
	Body   func(huma.Context)
}

func (s *handlers) registerOutput() {
	op := operation(http.MethodGet, "/v1/jobs/{id}/output", "get-job-output", "jobs",
		"The output of a task, read by its host as the owner of the job")
	op.Description =
		"Only the owner of the job and managers may read it. Without follow the answer is at most 64 KiB. The bytes are those of the file; only with follow " +
			"the server adds lines of its own, which begin with \"quill: \": when the file was truncated, and when it can be read no further."
	op.Responses = map[string]*huma.Response{"200": {
		Description: "OK", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}}}}
	huma.Register(s.api, op, s.getOutput)
}

func (s *handlers) getOutput(ctx context.Context, in *outputQuery) (*outputPart, error) {
	if in.Tail > 0 && in.Offset.set {
		return nil, problem.Invalid("query.tail", errors.New("tail and offset exclude each other"))
	}
	what := gdi.Output{Job: in.ID, Task: in.Task, Stderr: in.Stream == "err", Offset: in.Offset.value, Tail: in.Tail}
	if !in.Offset.set && in.Tail == 0 {
		what.Tail = math.MaxUint32
	}
	file := &client.Output{What: what, Follow: in.Follow, Ask: func(ctx context.Context, b gdi.Body) (gdi.Reply, error) {
		return entry.AccountOf(ctx).Do(ctx, "", "quill web", b)
	}}
	p, err := file.Next(ctx)
	if err != nil {
		return nil, notOutput(err, in.where)
	}
	out := &outputPart{Path: headerText(p.Path), Host: p.Host, Offset: p.Offset, Size: p.Size, Ended: !p.Running}
	if !in.Follow {
		out.Next = fmt.Sprint(p.Next)
	}
	out.Body = func(h huma.Context) {
		_, w := humago.Unwrap(h)
		h.SetHeader("Content-Type", typeText)
		if in.Follow {
			unbuffered(h)
		}
		h.SetStatus(http.StatusOK)
		if !in.Follow {
			_, _ = w.Write(p.Data)
			return
		}
		s.sendFollowed(ctx, w, file, p)
	}
	return out, nil
}

// sendFollowed sends a part and all that come after it.
func (s *handlers) sendFollowed(ctx context.Context, w http.ResponseWriter, file *client.Output, p *gdi.Part) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // that of a whole request is over soon
	send := func(b []byte) bool {
		_ = control.SetWriteDeadline(time.Now().Add(readWait))
		_, err := w.Write(b)
		return err == nil && control.Flush() == nil
	}
	first := true
	for {
		if p.Truncated && !first && !send([]byte("\nquill: "+p.Path+": file truncated\n")) {
			return
		}
		if first = false; !send(p.Data) {
			return
		}
		next, err := file.Next(ctx)
		if refusal := (*client.Refused)(nil); errors.As(err, &refusal) {
			send([]byte("\nquill: " + refusal.Answer.Text + "\n"))
		}
		if err != nil {
			return
		}
		p = next
	}
}

// notOutput is the problem that an output file was not read.
func notOutput(err error, where func(gdi.Answer) string) error {
	if refusal := (*client.Refused)(nil); errors.As(err, &refusal) {
		return problem.OfReply(gdi.Reply{Answers: []gdi.Answer{refusal.Answer}}, where)
	}
	return problem.Unreachable(err)
}

// headerText returns a path as a header can have it: what it cannot have is quoted.
func headerText(path string) string {
	for i := range len(path) {
		if path[i] < ' ' || path[i] >= 0x7f {
			return fmt.Sprintf("%q", path)
		}
	}
	return path
}
