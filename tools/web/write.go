package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/problem"
)

// Numbered is what every request that makes something may have.
type Numbered struct {
	Key string `header:"Idempotency-Key" maxLength:"200" doc:"number of the request, chosen by the client: a request that is sent again under the same number makes no second job or reservation, and one with another body is the problem exists; another route refuses the header"`
}

const keyHeader = "Idempotency-Key"

// checkKey refuses the number of a request where it would do nothing. The error is a problem.
func checkKey(r *http.Request, op *huma.Operation) error {
	numbered := slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == keyHeader })
	switch n := len(r.Header[keyHeader]); {
	case n > 0 && !numbered:
		return problem.Invalid("header."+keyHeader, errors.New("the header is for requests that make a job or a reservation"))
	case n > 1:
		return problem.Invalid("header."+keyHeader, errors.New("a request has one number"))
	}
	return nil
}

// located is an input that knows which of its fields an answer of qmaster is about.
type located interface{ where(gdi.Answer) string }

// Result is what a change has done.
type Result struct {
	Seq      uint64   `json:"seq" doc:"number of the event list with the change, for ?after=; 0: nothing changed"`
	Messages []string `json:"messages" doc:"what qmaster reports, in the words of the commands"`
}

// change is the answer to a request that changes something.
type change[T any] struct {
	Sequence uint64 `header:"Quill-Sequence" doc:"number of the event list with the change, for ?after="`
	Body     T
}

// requestID is the number under which qmaster stores a request: that of a client, together with its user.
func requestID(user, key string) string {
	digest := sha256.Sum256([]byte(user + "\x00" + key))
	return hex.EncodeToString(digest[:20])
}

// sendRequest sends a request of the owner of the token, where names its fields. The error is a problem.
func (s *handlers) sendRequest(
	ctx context.Context, command string, body gdi.Body, where func(gdi.Answer) string,
) (gdi.Reply, error) {
	reply, err := entry.AccountOf(ctx).Do(ctx, "", command, body)
	if err != nil {
		return reply, problem.Unreachable(err)
	}
	return reply, problem.OfReply(reply, where)
}

// sendOnce is sendRequest for a request that makes something: one that is sent again under its number makes no second
// one, and one with another input is refused. When qmaster does not answer the problem has the number, the client's or
// a new one.
func (s *handlers) sendOnce(
	ctx context.Context, key, command string, input any, body gdi.Body, where func(gdi.Answer) string,
) (gdi.Reply, error) {
	if key == "" {
		key = rand.Text()
	}
	account := entry.AccountOf(ctx)
	text, err := json.Marshal(input)
	if err != nil {
		return gdi.Reply{}, problem.Invalid("body", err)
	}
	digest := sha256.Sum256(append([]byte(command+"\x00"), text...))
	id := grid.DigestedRequest(requestID(account.User(), key), hex.EncodeToString(digest[:16]))
	reply, err := account.Do(ctx, id, command, body)
	if err != nil {
		return reply, huma.ErrorWithHeaders(problem.Unreachable(err), http.Header{keyHeader: {key}})
	}
	if len(reply.Answers) > 0 && reply.Answers[0].Status == gdi.StatusExists {
		return reply, problem.New(http.StatusConflict, "exists", "header."+keyHeader,
			fmt.Sprintf("denied: the number %q was used for another request; send this one under a new number", key))
	}
	return reply, problem.OfReply(reply, where)
}

func resultOf(reply gdi.Reply) Result {
	r := Result{Seq: reply.Seq, Messages: []string{}}
	for _, a := range reply.Answers {
		r.Messages = append(r.Messages, a.Text)
	}
	return r
}

// registerChange registers a route whose handler makes one request of its input. The command is the one that it stands
// for.
func registerChange[I any, P interface {
	*I
	located
}](s *handlers, op huma.Operation, command string, make func(in *I) (gdi.Body, error)) {
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*change[Result], error) {
		body, err := make(in)
		if err != nil {
			return nil, err
		}
		reply, err := s.sendRequest(ctx, command, body, P(in).where)
		if err != nil {
			return nil, err
		}
		return &change[Result]{Sequence: reply.Seq, Body: resultOf(reply)}, nil
	})
}

// JobPath is the part {id} of a path, and tasks.
type JobPath struct {
	ID    uint32 `path:"id" doc:"job number" minimum:"1"`
	Tasks string `query:"tasks" doc:"only these tasks of an array" example:"1-9:2" pattern:"^[0-9]+(-[0-9]+(:[0-9]+)?)?$"`
}

// word is the job as the commands name it.
func (p JobPath) word() string {
	if p.Tasks == "" {
		return fmt.Sprint(p.ID)
	}
	return fmt.Sprintf("%d.%s", p.ID, p.Tasks)
}

// where is the field that qmaster's answer about the job is about.
func (p JobPath) where(a gdi.Answer) string {
	switch {
	case a.Status != gdi.StatusUnknown:
		return ""
	case a.Field == "t":
		return "query.tasks"
	}
	return "path.id"
}

// QueuePath is the part {name} of a path.
type QueuePath struct {
	Name string `path:"name" doc:"wildcard queue, as all.q@node1"`
}

func (QueuePath) where(a gdi.Answer) string { return ifUnknown(a, "path.name") }

// ReservationPath is the part {id} of a path.
type ReservationPath struct {
	ID uint32 `path:"id" minimum:"1" doc:"number of the reservation"`
}

func (ReservationPath) where(a gdi.Answer) string { return ifUnknown(a, "path.id") }

// ifUnknown is the field that names an object when qmaster does not know it.
func ifUnknown(a gdi.Answer, field string) string {
	if a.Status != gdi.StatusUnknown {
		return ""
	}
	return field
}

func (s *handlers) registerWriting() {
	s.registerSubmit()
	type actor struct {
		path, id, summary string
		add               bool
	}
	for _, a := range []actor{{"hold", "hold-job", "Hold a job, as qhold", true},
		{"release", "release-job", "Remove holds of a job, as qrls", false}} {
		registerChange(s, operation(http.MethodPost, "/v1/jobs/{id}/"+a.path, a.id, "jobs", a.summary),
			map[bool]string{true: "qhold", false: "qrls"}[a.add], func(in *struct {
				JobPath
				Body struct {
					Types string `json:"types,omitempty" doc:"letters: u user, o operator, s system" default:"u" pattern:"^[uos]+$"`
				}
			},
			) (gdi.Body, error) {
				jobs, err := in.jobRefs()
				if err != nil {
					return nil, err
				}
				if a.add {
					return &gdi.Alter{Jobs: jobs, HoldAdd: in.Body.Types}, nil
				}
				return &gdi.Alter{Jobs: jobs, HoldRemove: in.Body.Types}, nil
			})
	}
	registerChange(s, operation(http.MethodPost, "/v1/jobs/{id}/signal", "signal-job", "jobs",
		"Suspend, unsuspend or reschedule a job, or clear its error state, as qmod"), "qmod", func(in *struct {
		JobPath
		Body struct {
			Action string `json:"action" enum:"suspend,unsuspend,reschedule,clear"`
			Force  bool   `json:"force,omitempty" doc:"-f"`
		}
	},
	) (gdi.Body, error) {
		return &gdi.Control{Action: in.Body.Action, Refs: []string{in.word()}, Force: in.Body.Force}, nil
	})
	registerChange(s, operation(http.MethodDelete, "/v1/jobs/{id}", "delete-job", "jobs", "Delete a job, as qdel"), "qdel",
		func(in *struct {
			JobPath
			Force bool `query:"force" doc:"-f: without waiting for the host"`
		},
		) (gdi.Body, error) {
			jobs, err := in.jobRefs()
			return &gdi.DeleteJobs{Jobs: jobs, Force: in.Force}, err
		})
	registerChange(s, operation(http.MethodPost, "/v1/queues/{name}/signal", "signal-queue", "listings",
		"Change the state of queue instances, as qmod"), "qmod", func(in *struct {
		QueuePath
		Body struct {
			Action string `json:"action" enum:"disable,enable,suspend,unsuspend,reschedule,clear"`
			Force  bool   `json:"force,omitempty" doc:"-f"`
		}
	},
	) (gdi.Body, error) {
		return &gdi.Control{Action: in.Body.Action, Queues: true, Refs: []string{in.Name}, Force: in.Body.Force}, nil
	})
	registerChange(s, operation(http.MethodDelete, "/v1/reservations/{id}", "delete-reservation", "reservations",
		"Delete an advance reservation, as qrdel"), "qrdel", func(in *struct {
		ReservationPath
		Force bool `query:"force" doc:"-f: without waiting for its jobs"`
	},
	) (gdi.Body, error) {
		return &gdi.DeleteARs{Refs: []string{fmt.Sprint(in.ID)}, Force: in.Force}, nil
	})
	s.registerConfigWriting()
}

// array is a list in a body that may be left out, but not be null: huma takes null for left out.
type array[T any] struct {
	items []T
	null  bool
}

// Schema is that of the list.
func (array[T]) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[[]T]())
}

// UnmarshalJSON reads the list.
func (a *array[T]) UnmarshalJSON(b []byte) error {
	a.null = string(b) == "null"
	return json.Unmarshal(b, &a.items)
}

// MarshalJSON writes it: left out and empty are one.
func (a array[T]) MarshalJSON() ([]byte, error) { return json.Marshal(append([]T{}, a.items...)) }

// Resolve refuses null, with the words of huma.
func (a *array[T]) Resolve(_ huma.Context, prefix *huma.PathBuffer) []error {
	if !a.null {
		return nil
	}
	return []error{&huma.ErrorDetail{Location: prefix.String(), Message: "expected array"}}
}

// parserError is the text of an error of the one parser, without the words around it.
func parserError(err error) error { return fmt.Errorf("%s", strings.TrimSpace(err.Error())) }
