package grid

import "strings"

// Private names the fields that only the owner of a job, managers and the host that runs
// it may read, because they may hold passwords and keys. All others are public, as in
// Grid Engine: every user sees every job with its arguments and context. The digest of a
// token is sent to no client that asks for a listing, not even to its owner. A proposal is
// seen by its user and by managers.
//
// Variables of the environment that qsub itself sets, SGE_O_*, are public: qstat -j shows
// them.
var Private = []string{
	"Job.Spec.Script", "Job.Spec.Env", "Job.Spec.Connect", "Job.Spec.SubmitCommand",
	"PETask.Launch", "Accounting.SubmitCommand", "Token.Comment", "Token.Digest",
	"Proposal.Agent", "Proposal.Reason", "Proposal.Effect", "Proposal.Changes", "Proposal.Text", "Proposal.Touches",
	"Proposal.Decided",
	"Receipt.Reply",
}

// Public returns an object without its private fields: a copy, or the object itself if
// it has none.
func Public(o Object) Object {
	switch o := o.(type) {
	case *Job:
		if o.Spec == nil || o.Spec.public() {
			break
		}
		job, spec := *o, *o.Spec
		spec.Script, spec.Env, spec.Connect, spec.SubmitCommand = nil, publicEnv(spec.Env), "", ""
		job.Spec = &spec
		return &job
	case *PETask:
		if o.Launch == nil {
			break
		}
		task := *o
		task.Launch = nil
		return &task
	case *Accounting:
		if o.SubmitCommand == "" {
			break
		}
		a := *o
		a.SubmitCommand = ""
		return &a
	case *Token:
		if o.Comment == "" && o.Digest == nil {
			break
		}
		t := *o
		t.Comment, t.Digest = "", nil
		return &t
	case *Receipt:
		if o.Reply == nil {
			break
		}
		r := *o
		r.Reply = nil
		return &r
	case *Proposal:
		if !o.public() {
			p := *o
			p.Agent, p.Reason, p.Effect, p.Changes, p.Text, p.Touches, p.Decided = "", "", "", nil, "", nil, Decision{}
			return &p
		}
	}
	return o
}

// public reports whether nothing in p is private.
func (p *Proposal) public() bool {
	return p.Agent == "" && p.Reason == "" && p.Effect == "" && p.Changes == nil && p.Text == "" && p.Touches == nil &&
		p.Decided == Decision{}
}

// public reports whether nothing in s is private.
func (s *JobSpec) public() bool {
	for i := range s.Env {
		if !publicVariable(s.Env[i].Name) {
			return false
		}
	}
	return s.Script == nil && s.Connect == "" && s.SubmitCommand == ""
}

func publicEnv(env Values) (out Values) {
	for _, v := range env {
		if publicVariable(v.Name) {
			out = append(out, v)
		}
	}
	return out
}

func publicVariable(name string) bool { return strings.HasPrefix(name, "SGE_O_") }
