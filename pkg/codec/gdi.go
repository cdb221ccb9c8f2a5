package codec

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// AppendRequest appends a request.
func AppendRequest(dst []byte, r gdi.Request) []byte { return appended(dst, &r, request) }

// Request reads a request without checking that it is complete: see gdi.Request.Complete.
func (d *Decoder) Request(b []byte) (gdi.Request, error) { return message(b, d, "request", request) }

// AppendReply appends a reply.
func AppendReply(dst []byte, r gdi.Reply) []byte { return appended(dst, &r, reply) }

// DecodeReply reads a reply.
func DecodeReply(b []byte) (gdi.Reply, error) { return message(b, nil, "reply", reply) }

func request(w *wire, r *gdi.Request) {
	m := w.open()
	w.text(&r.ID)
	w.name(&r.User)
	w.name(&r.Group)
	uns(w, &r.UID)
	uns(w, &r.GID)
	w.name(&r.Host)
	w.name(&r.Command)
	body(w, &r.Body)
	w.close(m)
}

func reply(w *wire, r *gdi.Reply) {
	m := w.open()
	uns(w, &r.Seq)
	list(w, &r.Answers, func(w *wire, a *gdi.Answer) {
		m := w.open()
		uns(w, &a.Status)
		uns(w, &a.Quality)
		w.text(&a.Text)
		w.close(m)
	})
	uns(w, &r.Job)
	rangeOf(w, &r.Tasks)
	w.bool(&r.Array)
	list(w, &r.Records, func(w *wire, p **grid.Accounting) { opt(w, p, accounting) })
	list(w, &r.Quotas, func(w *wire, q *gdi.Quota) {
		m := w.open()
		w.name(&q.Rule)
		for i := range q.By {
			w.name(&q.By[i])
		}
		w.name(&q.Resource)
		w.text(&q.Limit)
		w.text(&q.Used)
		w.close(m)
	})
	w.name(&r.PETask)
	w.close(m)
}

// newBody makes an empty body by its verb, nil for an unknown one.
func newBody(verb string) gdi.Body {
	for _, b := range gdi.Bodies() {
		if b.Verb() == verb {
			return b
		}
	}
	return nil
}

// body is its verb and its fields.
func body(w *wire, p *gdi.Body) {
	m := w.open()
	verb := ""
	if !w.reading && *p != nil {
		verb = (*p).Verb()
	}
	w.name(&verb)
	if w.reading && w.err == nil && verb != "" {
		if *p = newBody(verb); *p == nil {
			w.fail(fmt.Errorf("unknown request %q", verb))
		}
	}
	if w.err == nil && *p != nil {
		f := w.open()
		bodyFields(w, *p)
		w.close(f)
	}
	w.close(m)
}

func bodyFields(w *wire, b gdi.Body) {
	switch b := b.(type) {
	case *gdi.Add:
		list(w, &b.Objects, tagged)
	case *gdi.Modify:
		list(w, &b.Objects, tagged)
	case *gdi.Delete:
		uns(w, &b.Kind)
		list(w, &b.Keys, key)
	case *gdi.Change:
		uns(w, &b.Delete.Kind)
		list(w, &b.Delete.Keys, key)
		list(w, &b.Add, tagged)
		list(w, &b.Modify, tagged)
	case *gdi.Submit:
		opt(w, &b.Job, job)
	case *gdi.Resubmit:
		uns(w, &b.Job)
		w.name(&b.Hold)
	case *gdi.Alter:
		jobs(w, &b.Jobs)
		namesList(w, &b.Set)
		opt(w, &b.Job, job)
		w.name(&b.HoldAdd)
		w.name(&b.HoldRemove)
		w.bool(&b.ClearError)
	case *gdi.DeleteJobs:
		jobs(w, &b.Jobs)
		w.bool(&b.Force)
	case *gdi.Control:
		w.name(&b.Action)
		w.bool(&b.Queues)
		namesList(w, &b.Refs)
		w.bool(&b.Force)
	case *gdi.Trigger:
		w.name(&b.Action)
		names(w, &b.Hosts)
		w.bool(&b.Force)
	case *gdi.Wait:
		uns(w, &b.Job)
		w.name(&b.For)
		uns(w, &b.Task)
		w.name(&b.PETask)
	case *gdi.StartTask:
		uns(w, &b.Job)
		uns(w, &b.Task)
		w.name(&b.Host)
		opt(w, &b.Launch, launch)
	case *gdi.Get:
		list(w, &b.Kinds, uns[grid.Kind])
		where(w, &b.Where)
	case *gdi.Verify:
		opt(w, &b.Job, job)
		w.name(&b.Mode)
	case *gdi.Reserve:
		part(w, &b.AR)
	case *gdi.DeleteARs:
		names(w, &b.Refs)
		names(w, &b.Users)
		w.bool(&b.Force)
	case *gdi.Quotas:
	case *gdi.History:
		uns(w, &b.From.Seq)
		sig(w, &b.From.At)
		uns(w, &b.To.Seq)
		sig(w, &b.To.At)
	default:
		panic(fmt.Sprintf("codec: no layout for request %T", b))
	}
}

func jobs(w *wire, j *gdi.Jobs) {
	m := w.open()
	list(w, &j.Refs, func(w *wire, r *gdi.JobRef) {
		m := w.open()
		uns(w, &r.ID)
		w.text(&r.Name)
		ranges(w, &r.Tasks)
		w.close(m)
	})
	names(w, &j.Users)
	w.close(m)
}

func where(w *wire, c *gdi.Where) {
	m := w.open()
	list(w, &c.Keys, key)
	names(w, &c.Names)
	names(w, &c.Owners)
	w.bool(&c.Brief)
	w.bool(&c.Why)
	w.bool(&c.Waiting)
	w.bool(&c.Finished)
	w.close(m)
}
