package opttest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// qmaster is the client of a command under test.
type qmaster struct{ d *Desk }

// reply is one thing that qmaster says. An interrupt comes from the user
// while the command waits.
type reply struct {
	gdi.Reply
	objects   []grid.Object
	interrupt bool
	lost      error
}

// Do records the request and returns the reply that the test has set, by default success.
func (q qmaster) Do(_ context.Context, command string, body gdi.Body) (gdi.Reply, error) {
	fmt.Fprintf(&q.d.log, "%s %s\n", command, body.Verb())
	dump(&q.d.log, "", reflect.ValueOf(body))
	r := q.d.next()
	if r.interrupt {
		q.d.cancel()
		return gdi.Reply{}, context.Canceled
	}
	if s, ok := body.(*gdi.Submit); ok && r.Job != 0 {
		r.Answers = append(r.Answers, gdi.Done(submittedText(r.Reply, s.Job.Name)))
	}
	return r.Reply, r.lost
}

// Get hands out the objects that the test said.
func (q qmaster) Get(_ context.Context, get gdi.Get, each func(grid.Object) error) (uint64, error) {
	fmt.Fprintf(&q.d.log, "%s\n", get.Verb())
	dump(&q.d.log, "", reflect.ValueOf(get))
	r := q.d.next()
	for _, o := range r.objects {
		if err := each(o); err != nil {
			return 0, err
		}
	}
	return r.Seq, r.lost
}

func (q qmaster) Close() error { return nil }

func (d *Desk) next() (r reply) {
	if len(d.replies) > 0 {
		r, d.replies = d.replies[0], d.replies[1:]
	}
	return r
}

// Objects makes the answer to the next Get.
func (d *Desk) Objects(objects ...grid.Object) {
	d.replies = append(d.replies, reply{objects: objects})
}

// parseReply reads lines of
//
//	job 7 [1-10:2]            the new job, of an array
//	info TEXT, warn TEXT, deny TEXT, foreign TEXT, unknown TEXT
//	about NAME=VALUE...       what the answer before is about: job tasks ar queue did
//	record TASK NAME=NUMBER...   how a task ended: exit failed start deleted
//	lost TEXT                 no answer came
//	interrupt                 the user interrupts
func parseReply(t *testing.T, input string) (r reply) {
	for _, line := range strings.Split(input, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		fields := strings.Fields(rest)
		switch word {
		case "job":
			r.Job = number(t, fields[0])
			r.Tasks = grid.Range{First: 1, Last: 1, Step: 1}
			if r.Array = len(fields) > 1; r.Array {
				_, err := fmt.Sscanf(fields[1], "%d-%d:%d", &r.Tasks.First, &r.Tasks.Last, &r.Tasks.Step)
				if err != nil {
					t.Fatal(err)
				}
			}
		case "info":
			r.Answers = append(r.Answers, gdi.Done(rest))
		case "warn":
			r.Answers = append(r.Answers, gdi.Warn(rest))
		case "deny":
			r.Answers = append(r.Answers, gdi.Deny(gdi.StatusDenied, rest))
		case "foreign":
			r.Answers = append(r.Answers, gdi.Deny(gdi.StatusNotOwner, rest))
		case "unknown":
			r.Answers = append(r.Answers, gdi.Deny(gdi.StatusUnknown, rest))
		case "about":
			last := &r.Answers[len(r.Answers)-1]
			*last = last.On(subject(t, fields))
		case "record":
			r.Records = append(r.Records, record(t, fields))
		case "lost":
			r.lost = errors.New(rest)
		case "interrupt":
			r.interrupt = true
		default:
			t.Fatalf("unknown line of a reply: %q", line)
		}
	}
	return r
}

func record(t *testing.T, fields []string) *grid.Accounting {
	job, task, _ := strings.Cut(fields[0], ".")
	a := &grid.Accounting{Job: number(t, job), Task: 1, Start: 1000}
	if task != "" {
		a.Array, a.Task = true, number(t, task)
	}
	for _, f := range fields[1:] {
		name, value, _ := strings.Cut(f, "=")
		switch name {
		case "exit":
			a.ExitStatus = number(t, value)
		case "failed":
			a.Failed = number(t, value)
		case "start":
			a.Start = grid.Time(number(t, value))
		case "deleted":
			a.DeletedBy = value
		default:
			t.Fatalf("unknown field of a record: %q", f)
		}
	}
	return a
}

func number(t *testing.T, text string) uint32 {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(n)
}

// submittedText is what qmaster says of a new job.
func submittedText(r gdi.Reply, name string) string {
	what := fmt.Sprintf("job %d", r.Job)
	if r.Array {
		what = fmt.Sprintf("job-array %d.%d-%d:%d", r.Job, r.Tasks.First, r.Tasks.Last, r.Tasks.Step)
	}
	return fmt.Sprintf("Your %s (%q) has been submitted", what, name)
}

// subject reads what an answer is about.
func subject(t *testing.T, fields []string) (s gdi.Subject) {
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		switch name {
		case "job":
			s.Job = number(t, value)
		case "ar":
			s.AR = number(t, value)
		case "queue":
			s.Queue = value
		case "did":
			s.Did = gdi.Did(value)
		case "tasks":
			r := grid.Range{Step: 1}
			if _, err := fmt.Sscanf(value, "%d-%d", &r.First, &r.Last); err != nil {
				t.Fatal(err)
			}
			s.Tasks = append(s.Tasks, r)
		default:
			t.Fatalf("an answer is about no %q", name)
		}
	}
	return s
}
