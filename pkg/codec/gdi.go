package codec

import (
	"fmt"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/wire"
)

// AppendRequest appends a request.
func AppendRequest(dst []byte, r gdi.Request) []byte { return appended(dst, &r, request) }

// Request reads a request without checking that it is complete: see gdi.Request.Complete.
func (d *Decoder) Request(b []byte) (gdi.Request, error) { return message(b, d, "request", request) }

// AppendReply appends a reply.
func AppendReply(dst []byte, r gdi.Reply) []byte { return appended(dst, &r, reply) }

// DecodeReply reads a reply.
func DecodeReply(b []byte) (gdi.Reply, error) { return message(b, nil, "reply", reply) }

// AppendBody appends the body of a request.
func AppendBody(dst []byte, b gdi.Body) []byte { return appended(dst, &b, body) }

// DecodeBody reads what AppendBody wrote, without checking that it is complete.
func DecodeBody(b []byte) (gdi.Body, error) { return message(b, nil, "request", body) }

func request(w *wire.Coder, r *gdi.Request) {
	m := w.Open()
	w.Text(&r.ID)
	name(w, &r.User)
	name(w, &r.Group)
	wire.Uns(w, &r.UID)
	wire.Uns(w, &r.GID)
	name(w, &r.Host)
	name(w, &r.Command)
	body(w, &r.Body)
	wire.Uns(w, &r.Token)
	w.Close(m)
}

func reply(w *wire.Coder, r *gdi.Reply) {
	m := w.Open()
	wire.Uns(w, &r.Seq)
	wire.List(w, &r.Answers, func(w *wire.Coder, a *gdi.Answer) {
		m := w.Open()
		wire.Uns(w, &a.Status)
		wire.Uns(w, &a.Quality)
		w.Text(&a.Text)
		wire.Opt(w, &a.About, subject)
		name(w, &a.Field)
		w.Text(&a.Hint)
		w.Close(m)
	})
	wire.Uns(w, &r.Job)
	rangeOf(w, &r.Tasks)
	w.Bool(&r.Array)
	wire.List(w, &r.Records, func(w *wire.Coder, p **grid.Accounting) { wire.Opt(w, p, accounting) })
	name(w, &r.PETask)
	wire.Uns(w, &r.Token)
	wire.List(w, &r.Clients, func(w *wire.Coder, c *gdi.EventClient) {
		m := w.Open()
		wire.Uns(w, &c.ID)
		name(w, &c.Name)
		name(w, &c.Host)
		w.Close(m)
	})
	w.Text(&r.Ways.Issuer)
	w.Text(&r.Ways.Client)
	w.Text(&r.Ways.Cert)
	wire.Uns(w, &r.Ways.Scope)
	w.Float(&r.Ways.Seconds)
	wire.Opt(w, &r.Output, func(w *wire.Coder, p *gdi.Part) {
		m := w.Open()
		w.Text(&p.Host)
		w.Text(&p.Path)
		wire.Uns(w, &p.Offset)
		wire.Uns(w, &p.Next)
		wire.Uns(w, &p.Size)
		w.Bool(&p.Truncated)
		w.Bool(&p.Running)
		w.Data(&p.Data)
		w.Close(m)
	})
	wire.Uns(w, &r.Proposal)
	wire.List(w, &r.Streams, stream)
	wire.Opt(w, &r.Explanation, explanation)
	w.Close(m)
}

func stream(w *wire.Coder, s *gdi.Stream) {
	m := w.Open()
	w.Text(&s.Name)
	w.Text(&s.Leader)
	wire.Uns(w, &s.Messages)
	wire.Uns(w, &s.Bytes)
	wire.List(w, &s.Replicas, func(w *wire.Coder, r *gdi.Replica) {
		m := w.Open()
		w.Text(&r.Server)
		w.Bool(&r.Current)
		w.Bool(&r.Offline)
		wire.Uns(w, &r.Lag)
		w.Float(&r.Silent)
		w.Close(m)
	})
	w.Close(m)
}

func subject(w *wire.Coder, s *gdi.Subject) {
	m := w.Open()
	wire.Uns(w, &s.Job)
	ranges(w, &s.Tasks)
	wire.Uns(w, &s.AR)
	name(w, &s.Queue)
	name(w, (*string)(&s.Did))
	wire.Uns(w, &s.Kind)
	w.Text(&s.Name)
	w.Close(m)
}

// body is its verb and its fields.
func body(w *wire.Coder, p *gdi.Body) {
	m := w.Open()
	verb := ""
	if !w.Reading() && *p != nil {
		verb = (*p).Verb()
	}
	name(w, &verb)
	if w.Reading() && w.Err() == nil && verb != "" {
		if *p = gdi.NewBody(verb); *p == nil {
			w.Fail(fmt.Errorf("unknown request %q", verb))
		}
	}
	if w.Err() == nil && *p != nil {
		f := w.Open()
		bodyFields(w, *p)
		w.Close(f)
	}
	w.Close(m)
}

func bodyFields(w *wire.Coder, b gdi.Body) {
	switch b := b.(type) {
	case *gdi.Submit:
		wire.Opt(w, &b.Job, wholeJob)
	case *gdi.Resubmit:
		wire.Uns(w, &b.Job)
		name(w, &b.Hold)
	case *gdi.Alter:
		jobs(w, &b.Jobs)
		namesList(w, &b.Set)
		wire.Opt(w, &b.Job, wholeJob)
		name(w, &b.HoldAdd)
		name(w, &b.HoldRemove)
		w.Bool(&b.ClearError)
		w.Bool(&b.Now)
	case *gdi.DeleteJobs:
		jobs(w, &b.Jobs)
		w.Bool(&b.Force)
	case *gdi.Control:
		name(w, &b.Action)
		w.Bool(&b.Queues)
		namesList(w, &b.Refs)
		w.Bool(&b.Force)
	case *gdi.Trigger:
		name(w, &b.Action)
		names(w, &b.Hosts)
		w.Bool(&b.Force)
	case *gdi.Wait:
		wire.Uns(w, &b.Job)
		name(w, &b.For)
		wire.Uns(w, &b.Task)
		name(w, &b.PETask)
	case *gdi.StartTask:
		wire.Uns(w, &b.Job)
		wire.Uns(w, &b.Task)
		name(w, &b.Host)
		wire.Opt(w, &b.Launch, launch)
	case *gdi.Get:
		wire.List(w, &b.Kinds, wire.Uns[grid.Kind])
		where(w, &b.Where)
	case *gdi.Output:
		wire.Uns(w, &b.Job)
		wire.Uns(w, &b.Task)
		w.Bool(&b.Stderr)
		wire.Uns(w, &b.Offset)
		wire.Uns(w, &b.Tail)
	case *gdi.Verify:
		wire.Opt(w, &b.Job, wholeJob)
		name(w, &b.Mode)
	case *gdi.Reserve:
		part(w, &b.AR)
	case *gdi.DeleteARs:
		names(w, &b.Refs)
		names(w, &b.Users)
		w.Bool(&b.Force)
	case *gdi.History:
		wire.Uns(w, &b.From.Seq)
		wire.Sig(w, &b.From.At)
		wire.Uns(w, &b.To.Seq)
		wire.Sig(w, &b.To.At)
		w.Bool(&b.Lists)
	case *gdi.Explain:
		wire.Uns(w, &b.Job)
		wire.Uns(w, &b.Task)
		name(w, &b.User)
		wire.Sig(w, &b.East)
	default:
		adminFields(w, b)
	}
}

// adminFields are the bodies of requests that change the configuration, or tokens.
func adminFields(w *wire.Coder, b gdi.Body) {
	switch b := b.(type) {
	case *gdi.Add:
		wire.List(w, &b.Objects, tagged)
	case *gdi.Modify:
		wire.List(w, &b.Objects, tagged)
	case *gdi.Delete:
		wire.Uns(w, &b.Kind)
		wire.List(w, &b.Keys, key)
	case *gdi.Change:
		wire.Uns(w, &b.Delete.Kind)
		wire.List(w, &b.Delete.Keys, key)
		wire.List(w, &b.Add, tagged)
		wire.List(w, &b.Modify, tagged)
	case *gdi.CreateToken:
		wire.Uns(w, &b.Scope)
		w.Float(&b.Seconds)
		w.Text(&b.Comment)
		w.Data(&b.Digest)
	case *gdi.RevokeTokens:
		wire.List(w, &b.IDs, wire.Uns[uint32])
	case *gdi.Propose:
		wire.List(w, &b.Changes, func(w *wire.Coder, b *[]byte) { w.Data(b) })
		w.Float(&b.Seconds)
		w.Text(&b.Agent)
		w.Text(&b.Reason)
		w.Text(&b.Effect)
	case *gdi.Decide:
		wire.Uns(w, &b.Proposal)
		name(w, (*string)(&b.Decision))
		w.Text(&b.Comment)
	case *gdi.WaysToLogIn, *gdi.Streams:
	case *gdi.LogIn:
		w.Text(&b.IDToken)
		w.Text(&b.Nonce)
		w.Data(&b.Digest)
		w.Text(&b.Comment)
	default:
		panic(fmt.Sprintf("codec: no layout for request %T", b))
	}
}

func jobs(w *wire.Coder, j *gdi.Jobs) {
	m := w.Open()
	wire.List(w, &j.Refs, func(w *wire.Coder, r *gdi.JobRef) {
		m := w.Open()
		wire.Uns(w, &r.ID)
		w.Text(&r.Name)
		ranges(w, &r.Tasks)
		w.Close(m)
	})
	names(w, &j.Users)
	w.Close(m)
}

func where(w *wire.Coder, c *gdi.Where) {
	m := w.Open()
	wire.List(w, &c.Keys, key)
	names(w, &c.Names)
	names(w, &c.Owners)
	w.Bool(&c.Brief)
	w.Bool(&c.Why)
	w.Bool(&c.Waiting)
	w.Bool(&c.Finished)
	w.Close(m)
}
