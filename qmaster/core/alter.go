package core

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
)

// attribute is one switch of qalter: how it copies the new value into a job, and the noun
// that the answer prints. A change applies to tasks that start after it; a running task
// keeps the values it was started with.
type attribute struct {
	noun string
	take func(to, from *grid.Job)
}

// attributes are qalter's switches, qalter(1).
var attributes = map[string]attribute{
	"N":           {"job name", func(to, from *grid.Job) { to.Name = from.Name }},
	"A":           {"account", func(to, from *grid.Job) { to.Account = from.Account }},
	"P":           {"project", func(to, from *grid.Job) { to.Project = from.Project }},
	"a":           {"start time", func(to, from *grid.Job) { to.ExecTime = from.ExecTime }},
	"dl":          {"deadline time", func(to, from *grid.Job) { to.Deadline = from.Deadline }},
	"tc":          {"task concurrency", func(to, from *grid.Job) { to.Concurrency = from.Concurrency }},
	"l":           {"hard resource list", func(to, from *grid.Job) { to.Hard = from.Hard }},
	"soft_l":      {"soft resource list", func(to, from *grid.Job) { to.Soft = from.Soft }},
	"q":           {"hard queue list", func(to, from *grid.Job) { to.HardQueues = from.HardQueues }},
	"soft_q":      {"soft queue list", func(to, from *grid.Job) { to.SoftQueues = from.SoftQueues }},
	"master_l":    {"master hard resource list", func(to, from *grid.Job) { to.MasterHard = from.MasterHard }},
	"slave_l":     {"slave hard resource list", func(to, from *grid.Job) { to.SlaveHard = from.SlaveHard }},
	"slave_q":     {"slave hard queue list", func(to, from *grid.Job) { to.SlaveQueues = from.SlaveQueues }},
	"masterq":     {"master hard queue list", func(to, from *grid.Job) { to.MasterQueues = from.MasterQueues }},
	"ar":          {"advance reservation", func(to, from *grid.Job) { to.AR = from.AR }},
	"pe":          {"parallel environment", func(to, from *grid.Job) { to.PE, to.PERange = from.PE, from.PERange }},
	"ckpt":        {"checkpointing environment", func(to, from *grid.Job) { to.Ckpt = from.Ckpt }},
	"c":           {"checkpoint occasions", func(to, from *grid.Job) { to.CkptWhen, to.CkptSeconds = from.CkptWhen, from.CkptSeconds }},
	"binding":     {"binding", func(to, from *grid.Job) { to.Binding = from.Binding }},
	"R":           {"reservation behaviour", func(to, from *grid.Job) { to.Reserve = from.Reserve }},
	"r":           {"restart behaviour", func(to, from *grid.Job) { to.Restart = from.Restart }},
	"notify":      {"notify behaviour", func(to, from *grid.Job) { to.Notify = from.Notify }},
	"hold_jid":    {"job id hold list", func(to, from *grid.Job) { to.PredecessorReq = from.PredecessorReq }},
	"hold_jid_ad": {"job id hold array list", func(to, from *grid.Job) { to.ArrayPredecessorReq = from.ArrayPredecessorReq }},
	"cwd":         {"working directory", spec(func(to, from *grid.JobSpec) { to.Cwd = from.Cwd })},
	"o":           {"stdout path list", spec(func(to, from *grid.JobSpec) { to.Stdout = from.Stdout })},
	"e":           {"stderr path list", spec(func(to, from *grid.JobSpec) { to.Stderr = from.Stderr })},
	"i":           {"stdin path list", spec(func(to, from *grid.JobSpec) { to.Stdin = from.Stdin })},
	"j":           {"output merge behaviour", spec(func(to, from *grid.JobSpec) { to.Merge = from.Merge })},
	"w":           {"verify mode", spec(func(to, from *grid.JobSpec) { to.Verify = from.Verify })},
	"S":           {"shell list", spec(func(to, from *grid.JobSpec) { to.Shell = from.Shell })},
	"m":           {"mail options", spec(func(to, from *grid.JobSpec) { to.MailOptions = from.MailOptions })},
	"M":           {"mail list", spec(func(to, from *grid.JobSpec) { to.MailTo = from.MailTo })},
	"v":           {"environment", spec(takeEnvironment)},
	"ac":          {"context", spec(addContext)},
	"sc":          {"context", spec(func(to, from *grid.JobSpec) { to.Context = from.Context })},
	"dc":          {"context", spec(deleteContext)},
	"args":        {"job arguments", spec(func(to, from *grid.JobSpec) { to.Args = from.Args })},
}

// fixedByTasks are the attributes that stay as they are once a task has
// started: usage was already booked under them.
var fixedByTasks = grid.Names{"P", "ar"}

// takeEnvironment replaces the variables of -v and -V; what the submission
// itself has set (SGE_O_*) stays.
func takeEnvironment(to, from *grid.JobSpec) {
	var own grid.Assigned
	for _, v := range to.Env {
		if strings.HasPrefix(v.Name, "SGE_O_") {
			own.Set(v)
		}
	}
	own.Drop(from.Env)
	to.Env = append(own.Values(), from.Env...)
}

func addContext(to, from *grid.JobSpec) {
	var all grid.Assigned
	all.Set(to.Context...)
	all.Set(from.Context...)
	to.Context = all.Values()
}

func deleteContext(to, from *grid.JobSpec) {
	var left grid.Assigned
	left.Set(to.Context...)
	left.Drop(from.Context)
	to.Context = left.Values()
}

func spec(take func(to, from *grid.JobSpec)) func(to, from *grid.Job) {
	return func(to, from *grid.Job) {
		s := *to.Spec
		take(&s, from.Spec)
		to.Spec = &s
	}
}

// alter executes qalter(1), qhold(1) and qrls(1). Each job succeeds or fails alone. When
// one word of the request selects several jobs that the user does not own, the first of
// them is denied and the others are skipped.
func (c *Core) alter(in Request, b *gdi.Alter) {
	r := in.Request
	if refusal := cmp.Or(denied(c.unverified(b)), whenNow(b)); refusal != nil {
		c.reply(in.Ref, *refusal)
		return
	}
	jobs, answers := c.choose(r, b.Jobs)
	denied := -1 // the last word of the request of which a job was denied: once for each
	c.eachChosen(&perJob{in: in, jobs: jobs, do: func(x chosen) (said []gdi.Answer) {
		if !c.owns(r, x.job) {
			if x.word == denied {
				return nil
			}
			denied = x.word
			return []gdi.Answer{gdi.Deny(gdi.StatusNotOwner,
				fmt.Sprintf("denied: %q must be at least owner of job %d to change job attributes", r.User, x.job.ID)).On(gdi.Subject{Job: x.job.ID})}
		}
		switch {
		case len(b.Set) > 0 && !x.all:
			said = append(said, gdi.Deny(gdi.StatusInvalid, "denied: the selected option works only on jobs and not on tasks").
				On(gdi.Subject{Job: x.job.ID}))
		case len(b.Set) > 0:
			said = append(said, altered(x.job, c.alterJob(r, b, x))...)
		}
		if b.HoldAdd != "" || b.HoldRemove != "" {
			said = append(said, altered(x.job, c.alterHold(r, b, x))...)
		}
		if b.ClearError {
			said = append(said, about(x.job.ID, c.clearError(r, x))...)
		}
		return said
	}}, answers...)
}

// altered says of answers what they are about: a job that was modified, unless they refuse it.
func altered(j *grid.Job, answers []gdi.Answer) []gdi.Answer {
	for n, a := range answers {
		if a.About == nil && a.Quality == gdi.Info {
			answers[n] = a.On(onJob(j, gdi.DidModify, nil))
		}
	}
	return about(j.ID, answers)
}

func (c *Core) alterJob(r gdi.Request, b *gdi.Alter, x chosen) []gdi.Answer {
	old := c.state.Job(x.job.ID)
	j := *old
	j.Ask()
	started := false
	for _, t := range c.state.Tasks(j.ID) {
		started = started || t.Started()
	}
	answers, refused := c.setAttributes(r, b, &j, started)
	if refused {
		return answers
	}
	if refusal := cmp.Or(wrong("N", validJobName(j.Name)), wrong("A", validObjectName(j.Account)), c.badPaths(j.Spec), wrong("M", c.manyMails(b.Job.Spec.MailTo)),
		c.badAltered(r, &j, b.Set)); refusal != nil {
		return []gdi.Answer{*refusal}
	}
	refusal := c.lookUp(&j)
	if reason := c.admitted(&j); refusal == nil && reason != c.admitted(old) { // what was already so may stay
		refusal = wrong("", reason)
	}
	if refusal != nil {
		return []gdi.Answer{*refusal}
	}
	if slices.Contains(b.Set, "w") {
		said, goOn := c.verifyAltered(&j, started)
		if answers = append(answers, said...); !goOn {
			return said
		}
	}
	tasks, text := c.limitTasks(b, old, &j)
	if refusal := wrong("l", text); refusal != nil {
		return []gdi.Answer{*refusal}
	}
	j.Version++
	c.keepLimits(b, old, &j)
	if reflect.DeepEqual(j.JobRequest, old.JobRequest) { // shared again, so that the event need not repeat it
		j.JobRequest = old.JobRequest
	}
	if refusal := cmp.Or(tooBig(&j), c.noRoom(j.Owner, old, &j)); refusal != nil {
		return []gdi.Answer{*refusal}
	}
	c.emit(events.Mod(&j))
	c.emitLimits(tasks)
	return answers
}

// setAttributes replaces the attributes of a job that a request names; refused: one of them may not be.
func (c *Core) setAttributes(r gdi.Request, b *gdi.Alter, j *grid.Job, started bool) (answers []gdi.Answer, refused bool) {
	refuse := func(a *gdi.Answer) ([]gdi.Answer, bool) { return []gdi.Answer{*a}, true }
	from := b.Job
	for _, name := range b.Set {
		switch a, ok := attributes[name]; {
		case name == "p":
			if from.Priority > j.Priority && !c.isOperator(r) {
				return refuse(denied(fmt.Sprintf("denied: %q must be operator to increase job priority", r.User)))
			}
			j.Priority = from.Priority
			answers = append(answers, gdi.Done(fmt.Sprintf("%s@%s sets scheduling priority of job %d to %d", r.User, r.Host, j.ID, j.Priority)))
		case name == "ot":
			if !c.isOperator(r) {
				return refuse(denied(fmt.Sprintf("denied: %q must be operator to change amount of override tickets", r.User)))
			}
			j.OverrideTickets = from.OverrideTickets
			answers = append(answers, gdi.Done(fmt.Sprintf("%s@%s sets override tickets of job %d to %d", r.User, r.Host, j.ID, j.OverrideTickets)))
		case name == "js":
			j.JobShare = from.JobShare
			answers = append(answers, gdi.Done(fmt.Sprintf("%s@%s sets job share of job %d to %d", r.User, r.Host, j.ID, j.JobShare)))
		case !ok:
			return refuse(wrong(name, fmt.Sprintf("denied: attribute %q of a job can't be changed", name)))
		case started && fixedByTasks.Has(name):
			return refuse(wrong(name, fmt.Sprintf("job %d can't modify running jobs", j.ID)))
		case name == "l" && b.Now:
			if refusal := wrong(name, c.requestLimits(j, from.Hard)); refusal != nil {
				return refuse(refusal)
			}
			answers = append(answers, gdi.Done(fmt.Sprintf("modified %s of job %d", a.noun, j.ID)))
		case name == "hold_jid" || name == "hold_jid_ad":
			a.take(j, from)
			text, refusal := c.waitFor(j, name)
			if refusal != nil {
				return refuse(refusal)
			}
			answers = append(answers, gdi.Done(fmt.Sprintf("modified %s of job %d\n%s", a.noun, j.ID, text)))
		default:
			a.take(j, from)
			if name == "w" { // the verification says what there is to say
				continue
			}
			switch name {
			case "M":
				to, warnings := mailable(j.Spec.MailTo)
				j.Spec.MailTo, answers = to, append(answers, warnings...)
			case "c": // says nothing
				continue
			case "ar":
				answers = append(answers, gdi.Done(fmt.Sprintf("%s@%s sets job advance reservation of job %d to %d", r.User, r.Host, j.ID, j.AR)))
				continue
			}
			answers = append(answers, gdi.Done(fmt.Sprintf("modified %s of job %d", a.noun, j.ID)))
			if name == "pe" {
				answers = append(answers, gdi.Done(fmt.Sprintf("modified slot range of job %d", j.ID)))
			}
		}
	}
	return answers, false
}

// verifyAltered is qalter -w: whether the job as it would be could run. With v
// and p that is all there is to do; with e it must.
func (c *Core) verifyAltered(j *grid.Job, started bool) (answers []gdi.Answer, goOn bool) {
	mode := j.Spec.Verify
	just := mode == "v" || mode == "p"
	if mode == "n" {
		return nil, true
	}
	if started || j.AnyHold() {
		return []gdi.Answer{gdi.Done("verification: job is already running or is held")}, !just
	}
	reasons := c.unplaceable(j, mode)
	switch {
	case just:
		return verified(jobWord(j), reasons), false
	case len(reasons) > 0 && mode == "e":
		return []gdi.Answer{*wrong("w", noSuitableQueues)}, false
	case len(reasons) > 0:
		return []gdi.Answer{gdi.Warn("warning: no suitable queues")}, true
	}
	return nil, true
}

func (c *Core) badAltered(r gdi.Request, j *grid.Job, set []string) *gdi.Answer {
	switch {
	case noPriority(j) != nil:
		return noPriority(j)
	case slices.Contains(set, "binding") && badBinding(j) != "":
		return wrong("binding", badBinding(j))
	case slices.Contains(set, "dl") && c.badDeadline(r, j) != "":
		return denied(c.badDeadline(r, j))
	case slices.Contains(set, "ckpt") && j.Ckpt != "" && c.state.Ckpt(j.Ckpt) == nil:
		return wrong("ckpt", fmt.Sprintf("denied: checkpointing environment %q does not exist", j.Ckpt))
	case slices.Contains(set, "P"):
		return c.badProject(r, j)
	case !j.Array && (len(j.ArrayPredecessorReq) > 0 || j.Concurrency > 0):
		return c.badTasks(j)
	}
	return nil
}

// waitFor resolves the jobs that a job is to wait for, and returns what Grid Engine prints of those that an option names.
func (c *Core) waitFor(j *grid.Job, option string) (text string, refusal *gdi.Answer) {
	if refusal := cmp.Or(c.predecessors(j), wrong(option, c.cycle(j))); refusal != nil {
		return "", refusal
	}
	named, found := j.PredecessorReq, j.Predecessors
	if option == "hold_jid_ad" {
		named, found = j.ArrayPredecessorReq, j.ArrayPredecessors
	}
	var exited []uint32
	for _, ref := range named {
		if id := parseJobID(ref); id != 0 && c.state.Job(id) == nil {
			exited = append(exited, id)
		}
	}
	return "   blocking jobs: " + fewIDs(found) + "\n   exited jobs:   " + fewIDs(exited), nil
}

// fewIDs is a list of job numbers, of which there can be as many as there are jobs.
func fewIDs(ids []uint32) string {
	const most = 100
	var words []string
	for _, id := range ids[:min(len(ids), most)] {
		words = append(words, strconv.FormatUint(uint64(id), 10))
	}
	if more := len(ids) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return cmp.Or(strings.Join(words, ","), "NONE")
}

// cycle refuses a job that would wait for itself, or for another one that waits for it.
func (c *Core) cycle(j *grid.Job) string {
	if slices.ContainsFunc(slices.Concat(j.PredecessorReq, j.ArrayPredecessorReq), func(ref string) bool { return parseJobID(ref) == j.ID }) {
		return fmt.Sprintf("denied: job \"%d\" may not be its own jobnet predecessor", j.ID)
	}
	seen := map[uint32]bool{}
	for rest := slices.Concat(j.Predecessors, j.ArrayPredecessors); len(rest) > 0; {
		id := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		p := c.state.Job(id)
		if p == nil || seen[id] {
			continue
		}
		seen[id] = true
		next := slices.Concat(p.Predecessors, p.ArrayPredecessors)
		if slices.Contains(next, j.ID) {
			return fmt.Sprintf("job %d dependency change would generate a dependency cycle with job %d", j.ID, id)
		}
		rest = append(rest, next...)
	}
	return ""
}

// alterHold sets and removes holds. Users may change user holds, operators
// operator holds, managers all. When one of the holds to be set is refused, none
// is set; of those to be removed each stands for itself, and what is not there
// needs no right.
func (c *Core) alterHold(r gdi.Request, b *gdi.Alter, x chosen) (answers []gdi.Answer) {
	for _, l := range b.HoldAdd + b.HoldRemove {
		if !strings.ContainsRune("uos", l) {
			return []gdi.Answer{gdi.Deny(gdi.StatusInvalid, fmt.Sprintf("denied: unknown hold %q", l))}
		}
	}
	j := *c.state.Job(x.job.ID)
	tasks := x.pendingOf()
	for _, t := range c.enrolledOf(x) {
		tasks = tasks.With(t.ID)
	}
	var changed grid.Ranges
	next, refused := j, false
	for _, h := range []struct {
		letter    string
		list      *grid.Ranges
		who, what string
		may       bool
	}{
		{"s", &next.SysHold, "manager", "manager hold", c.isManager(r)},
		{"o", &next.OperHold, "operator", "operator hold", c.isOperator(r)},
		{"u", &next.UserHold, "", "user hold", true},
	} {
		list, change := *h.list, "set"
		if strings.Contains(b.HoldAdd, h.letter) {
			list = list.Plus(tasks)
		}
		if strings.Contains(b.HoldRemove, h.letter) {
			change = "remove"
			if x.all {
				list = nil
			} else {
				list = list.Minus(tasks)
			}
		}
		switch {
		case list.Count() == h.list.Count():
		case !h.may:
			refused = refused || change == "set"
			answers = append(answers, gdi.Deny(gdi.StatusDenied,
				fmt.Sprintf("denied: %q must be %s to %s %s", r.User, h.who, change, h.what)))
		default:
			changed = changed.Plus(list.Minus(*h.list)).Plus(h.list.Minus(list))
			*h.list = list
		}
	}
	if len(changed) == 0 || refused {
		return answers
	}
	if !x.all { // a whole hold has as many ranges as the job has already
		if refusal := c.noRoom(j.Owner, x.job, &next); refusal != nil {
			return append(answers, *refusal)
		}
	}
	j = next
	j.Version++
	c.emit(events.Mod(&j))
	switch {
	case !j.Array:
		return append(answers, gdi.Done(fmt.Sprintf("modified hold of job %d", j.ID)))
	case changed.Count() > heldApart:
		return append(answers, gdi.Done(fmt.Sprintf("modified hold of job-array tasks %s of job %d", taskList(changed), j.ID)).
			On(onJob(&j, gdi.DidModify, changed)))
	}
	changed.Each(func(n uint32) bool {
		answers = append(answers, gdi.Done(fmt.Sprintf("modified hold of job-array task %d.%d", j.ID, n)).On(onTask(&j, gdi.DidModify, n)))
		return true
	})
	return answers
}

// heldApart is how many tasks of an array are answered each on a line of its own.
const heldApart = 1000
