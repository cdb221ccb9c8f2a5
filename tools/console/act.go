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

// confirmation is an action with the page that asks before it, and reports after it.
type confirmation struct {
	Verb           *verb
	Key, User      string
	Refs           []string
	Queues         bool
	Priority, Back string
	Differences    []difference // of parameters
	actResult

	Previews []outlook.Preview // what the next scheduling run would do as it is, and after the change
	Refused  bool              // the change makes no sense: it can't be confirmed
}

// actResult is what has become of an action. It is complete when the action is Done.
type actResult struct {
	Done     bool
	Outcomes []Outcome
	Failed   *Problem // why the last request has no complete answer; nil: it has
}

// Heading says in a few words what has become of the action.
func (r actResult) Heading() string {
	done := 0
	for _, o := range r.Outcomes {
		if o.Status == http.StatusOK {
			done++
		}
	}
	switch {
	case done == len(r.Outcomes):
		return "Done"
	case done == 0:
		return "Refused: nothing was changed"
	}
	return fmt.Sprintf("Partly done: %d of %d", done, len(r.Outcomes))
}

// Status is that of the page that reports the action: of the first refusal when nothing was done.
func (r actResult) Status() int {
	for _, o := range r.Outcomes {
		if o.Status == http.StatusOK {
			return http.StatusOK
		}
	}
	if len(r.Outcomes) > 0 {
		return r.Outcomes[0].Status
	}
	return http.StatusOK
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

// ask stores an action and leads to the page that asks whether to carry it out, POST /act. It changes nothing.
func (c *Console) ask(w http.ResponseWriter, r *http.Request) {
	q, release := c.formRequest(w, r)
	if q == nil {
		return
	}
	defer release()
	form := q.PostForm
	a := confirmation{Verb: verbOf(form.Get("verb")), User: q.session.User(), Refs: form["ref"],
		Queues: form.Get("queues") != "", Back: form.Get("back")}
	if !strings.HasPrefix(a.Back, "/") || strings.HasPrefix(a.Back, "//") || strings.HasPrefix(a.Back, "/\\") {
		a.Back = "/jobs"
	}
	err := a.check()
	if err == nil && a.Verb.Name == "parameters" {
		if a.Differences = q.changedParameters(); len(a.Differences) == 0 {
			err = &Problem{Status: http.StatusUnprocessableEntity, Text: "No parameter is changed: all are as they were."}
		}
	}
	if err != nil {
		c.refuse(w, r, q, err)
		return
	}
	http.Redirect(w, r, "/act/"+c.acts.add(&a), http.StatusSeeOther)
}

// confirm carries out an action, POST /act/{key}: once, for however many requests. It leads to the page that reports
// it.
func (c *Console) confirm(w http.ResponseWriter, r *http.Request) {
	q, release := c.formRequest(w, r)
	if q == nil {
		return
	}
	defer release()
	known, err := c.acts.find(q.session.User(), r.PathValue("key"))
	if err != nil {
		c.refuse(w, r, q, err)
		return
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	a := &known.confirmation
	a.Priority = q.PostForm.Get("priority")
	if !a.Done && a.Verb.Name == "alter" && !a.valid() {
		c.writeAct(w, q, a, &Problem{Status: http.StatusUnprocessableEntity, Field: "priority",
			Text: "A priority is a whole number from -1023 to 1024; below 0 for users."})
		return
	}
	if !a.Done {
		var seq uint64
		a.Outcomes, seq, err = q.session.Do(q.Context(), a.action())
		a.Done, a.Failed = err == nil, nil
		if err != nil && !errors.As(err, &a.Failed) {
			a.Failed = &Problem{Status: http.StatusInternalServerError, Text: err.Error()}
		}
		if seq > q.moment.State.Seq {
			c.cell.Changed(q.Context(), seq-1)
		}
	}
	http.Redirect(w, r, "/act/"+a.Key, http.StatusSeeOther)
}

// showAct asks whether to carry out an action, or reports it, GET /act/{key}.
func (c *Console) showAct(w http.ResponseWriter, r *http.Request) {
	session, release, err := c.cell.Session(r, "")
	if err != nil {
		c.refuse(w, r, nil, err)
		return
	}
	defer release()
	ctx, cancel := context.WithTimeout(r.Context(), pageWait)
	defer cancel()
	q := &request{Request: r.WithContext(ctx), console: c, session: session, query: r.URL.Query()}
	known, err := c.acts.find(session.User(), r.PathValue("key"))
	if err == nil {
		q.moment, err = c.cell.Moment(ctx, "")
	}
	if err != nil {
		c.refuse(w, r, q, err)
		return
	}
	known.mu.Lock()
	a := known.confirmation // a copy: a preview takes long
	known.mu.Unlock()
	asked := a.Failed
	if !a.Done && asked == nil {
		if err := a.previewChange(q); err != nil {
			if !errors.As(err, &asked) {
				c.refuse(w, r, q, err)
				return
			}
			a.Refused = true
		}
	}
	c.writeAct(w, q, &a, asked)
}

// writeAct writes the page of an action.
func (c *Console) writeAct(w http.ResponseWriter, q *request, a *confirmation, asked *Problem) {
	f := c.frame(q)
	f.Data, f.Title, f.Live, f.Problem = a, a.Verb.Button, false, asked
	status := a.Status()
	if asked != nil {
		status = asked.Status
	}
	c.write(w, q.Request, status, "confirm", f)
}

// formRequest returns the request of a form at the present. nil: it has answered.
func (c *Console) formRequest(w http.ResponseWriter, r *http.Request) (q *request, release func()) {
	session, leave, bad := c.formSession(w, r)
	if session == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), pageWait)
	release = func() { cancel(); leave() }
	q = &request{Request: r.WithContext(ctx), console: c, session: session, query: r.URL.Query()}
	var err error
	if bad != nil {
		err = &Problem{Status: http.StatusBadRequest, Text: "The form cannot be read: " + bad.Error()}
	} else {
		q.moment, err = c.cell.Moment(ctx, "")
	}
	if err != nil {
		c.refuse(w, r, q, err)
		release()
		return nil, nil
	}
	return q, release
}

// previewChange finds what a change of the scheduler would do. The error of a change that is refused is a *Problem.
func (a *confirmation) previewChange(q *request) error {
	var changes grid.Values
	switch a.Verb.Name {
	case "algorithm":
		changes = grid.Values{{Name: "algorithm", Text: a.Refs[0]}}
	case "parameters":
		for _, d := range a.Differences {
			changes = append(changes, d.Value)
		}
	default:
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

func (a *confirmation) valid() bool {
	n, err := strconv.Atoi(a.Priority)
	return err == nil && n >= -1023 && n <= 1024
}

// action is what the cell is to do.
func (a *confirmation) action() Action {
	out := Action{Key: a.Key, Verb: a.Verb.Name, Refs: a.Refs, Queues: a.Queues}
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
