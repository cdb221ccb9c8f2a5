package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/outlook"
)

// formMost bounds a form, and refsMost the jobs of an action.
const (
	formMost = 1 << 20
	refsMost = 1000
)

// verb is an action with its words.
type verb struct {
	Name, Question, Button string
	Danger                 bool
	Note                   string // what follows from it, of an action on something else than jobs and queue instances
}

// verbs are the actions of pages. A page has a form to /act with verb and ref.
var verbs = []verb{
	{"hold", "Hold", "Hold", false, ""},
	{"release", "Release the hold of", "Release", false, ""},
	{"delete", "Delete", "Delete", true, ""},
	{"alter", "Alter the priority of", "Alter priority", false, ""},
	{"resubmit", "Submit again", "Submit again", false, ""},
	{"suspend", "Suspend", "Suspend", false, ""},
	{"unsuspend", "Resume", "Resume", false, ""},
	{"reschedule", "Reschedule", "Reschedule", true, ""},
	{"clear", "Clear the error state of", "Clear error", false, ""},
	{"disable", "Disable", "Disable", false, ""},
	{"enable", "Enable", "Enable", false, ""},
	{"shares", "Give projects these functional shares:", "Change the shares", true, nextRun},
	{"parameters", "Change the parameters of", "Change the parameters", true, nextRun},
	{"algorithm", "Have the cell decided by", "Exchange the algorithm", true, nextRun},
	{"approve", "Approve proposal", "Approve", true,
		"The change is carried out with your rights, whole or not at all. It is refused when what it changes is not as it was when it was proposed."},
	{"reject", "Reject proposal", "Reject", false, "Nothing is changed. Who proposed it sees that it was rejected."},
}

const nextRun = "The next scheduling run decides by it; what runs continues. It can be changed back at any time."

func verbOf(name string) *verb {
	if i := slices.IndexFunc(verbs, func(v verb) bool { return v.Name == name }); i >= 0 {
		return &verbs[i]
	}
	return nil
}

// confirmation is the page that asks before an action, and reports after it.
type confirmation struct {
	Verb           *verb
	Refs           []string
	Queues         bool
	Priority, Back string
	Done           bool
	Messages       []string

	Differences []difference
	Previews    []outlook.Preview // what the next scheduling run would do as it is, and after the change
	Refused     bool              // the change makes no sense: it can't be confirmed
}

// formSession returns the session of a form. Without one it has answered.
func (c *Console) formSession(w http.ResponseWriter, r *http.Request) (session Session, release func(), bad error) {
	r.Body = http.MaxBytesReader(w, r.Body, formMost)
	bad = r.ParseForm()
	session, release, err := c.cell.Session(r, r.PostForm.Get("csrf"))
	if err == nil {
		return session, release, bad
	}
	if p := (*Problem)(nil); errors.As(err, &p) && p.Status == http.StatusForbidden {
		c.Refuse(w, r, p)
	} else {
		c.refuse(w, r, nil, err)
	}
	return nil, nil, nil
}

// logout ends the session.
func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	session, release, _ := c.formSession(w, r)
	if session == nil {
		return
	}
	defer release()
	if err := session.End(r.Context(), w); err != nil {
		c.refuse(w, r, &request{Request: r, console: c, session: session, query: r.URL.Query()}, err)
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// act carries out an action once it is confirmed. It changes nothing before.
func (c *Console) act(w http.ResponseWriter, r *http.Request) {
	session, release, bad := c.formSession(w, r)
	if session == nil {
		return
	}
	defer release()
	ctx, cancel := context.WithTimeout(r.Context(), pageWait)
	defer cancel()
	q := &request{Request: r.WithContext(ctx), console: c, session: session, query: r.URL.Query()}
	if bad != nil {
		c.refuse(w, r, q, &Problem{Status: http.StatusBadRequest, Text: "The form cannot be read: " + bad.Error()})
		return
	}
	form := r.PostForm
	a := &confirmation{Verb: verbOf(form.Get("verb")), Refs: form["ref"], Queues: form.Get("queues") != "",
		Priority: form.Get("priority"), Back: form.Get("back")}
	if !strings.HasPrefix(a.Back, "/") || strings.HasPrefix(a.Back, "//") || strings.HasPrefix(a.Back, "/\\") {
		a.Back = "/jobs"
	}
	var err error
	if q.moment, err = c.cell.Moment(ctx, ""); err == nil {
		err = a.check()
	}
	if err != nil {
		c.refuse(w, r, q, err)
		return
	}
	var asked *Problem
	if err := a.previewChange(q); err != nil {
		if !errors.As(err, &asked) {
			c.refuse(w, r, q, err)
			return
		}
		a.Refused = true
	}
	switch {
	case asked != nil:
	case form.Get("confirmed") == "":
	case a.Verb.Name == "alter" && !a.valid():
		asked = &Problem{Status: http.StatusUnprocessableEntity, Field: "priority",
			Text: "A priority is a whole number from -1023 to 1024; below 0 for users."}
	default:
		var seq uint64
		if a.Messages, seq, err = session.Do(ctx, a.action()); err != nil {
			c.refuse(w, r, q, err)
			return
		}
		a.Done = true
		if seq > q.moment.State.Seq {
			c.cell.Changed(ctx, seq-1)
		}
	}
	f := c.frame(q)
	f.Data, f.Title, f.Live, f.Problem = a, a.Verb.Button, false, asked
	status := http.StatusOK
	if asked != nil {
		status = asked.Status
	}
	c.write(w, r, status, "confirm", f)
}

// previewChange finds what a change of the scheduler would do. The error of a change that is refused is a *Problem.
func (a *confirmation) previewChange(q *request) error {
	var changes grid.Values
	switch a.Verb.Name {
	case "algorithm":
		changes = grid.Values{{Name: "algorithm", Text: a.Refs[0]}}
	case "parameters":
		if a.Differences = q.changedParameters(); len(a.Differences) == 0 {
			return &Problem{Status: http.StatusUnprocessableEntity, Text: "No parameter is changed: all are as they were."}
		}
		for _, d := range a.Differences {
			changes = append(changes, d.Value)
		}
	default:
		return nil
	}
	if q.PostForm.Get("confirmed") != "" { // then qmaster refuses it, if need be
		return nil
	}
	now, then, err := q.cell().Preview(q.Context(), q.moment, changes)
	a.Previews = []outlook.Preview{now, then}
	return err
}

// check returns why the form makes no sense.
func (a *confirmation) check() error {
	switch {
	case a.Verb == nil:
		return &Problem{Status: http.StatusUnprocessableEntity, Text: "There is no such action."}
	case len(a.Refs) == 0 && a.Verb.Note != "":
		return &Problem{Status: http.StatusUnprocessableEntity, Text: "Nothing is chosen."}
	case len(a.Refs) == 0:
		return &Problem{Status: http.StatusUnprocessableEntity,
			Text: "Nothing is selected: mark the jobs first, with the boxes at the left of the list."}
	case len(a.Refs) > refsMost:
		return &Problem{Status: http.StatusUnprocessableEntity,
			Text: fmt.Sprintf("More than %d jobs are selected.", refsMost)}
	}
	return nil
}

// Fields are the fields of the form that changes parameters.
func (a *confirmation) Fields() (out grid.Values) {
	for _, d := range a.Differences {
		_, name, _ := strings.Cut(d.Name, ".")
		out = append(out, grid.Value{Name: parameterField + name, Text: d.Text})
	}
	return out
}

func (a *confirmation) valid() bool {
	n, err := strconv.Atoi(a.Priority)
	return err == nil && n >= -1023 && n <= 1024
}

// action is what the cell is to do.
func (a *confirmation) action() Action {
	out := Action{Verb: a.Verb.Name, Refs: a.Refs, Queues: a.Queues}
	switch a.Verb.Name {
	case "hold", "release", "delete", "resubmit", "approve", "reject":
	case "alter":
		out.Options = []string{"-p", a.Priority}
	case "shares":
		out.Verb, out.Refs = "configure", nil
		for _, ref := range a.Refs {
			project, shares, _ := strings.Cut(ref, "=")
			out.Refs, out.Options = append(out.Refs, "project/"+project), append(out.Options, "fshare="+shares)
		}
	case "parameters":
		out.Verb, out.Refs = "configure", nil
		for _, d := range a.Differences {
			out.Refs, out.Options = append(out.Refs, "sched_conf/schedconf"), append(out.Options, d.Name+"="+d.Text)
		}
	case "algorithm":
		out.Verb, out.Refs, out.Options = "configure", []string{"sched_conf/schedconf"}, []string{"algorithm=" + a.Refs[0]}
	default:
		out.Verb, out.Signal = "signal", a.Verb.Name
	}
	return out
}
