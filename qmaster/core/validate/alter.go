package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// attribute is one switch of qalter: how it copies the new value into a job, and the noun
// that the answer prints. A change applies to tasks that start after it; a running task
// keeps the values it was started with.
type attribute struct {
	noun string
	take func(to, from *grid.Job)
}

// Attributes are qalter's switches, qalter(1).
var Attributes = map[string]attribute{
	"N":        {"job name", func(to, from *grid.Job) { to.Name = from.Name }},
	"A":        {"account", func(to, from *grid.Job) { to.Account = from.Account }},
	"P":        {"project", func(to, from *grid.Job) { to.Project = from.Project }},
	"a":        {"start time", func(to, from *grid.Job) { to.ExecTime = from.ExecTime }},
	"dl":       {"deadline time", func(to, from *grid.Job) { to.Deadline = from.Deadline }},
	"tc":       {"task concurrency", func(to, from *grid.Job) { to.Concurrency = from.Concurrency }},
	"l":        {"hard resource list", func(to, from *grid.Job) { to.Hard = from.Hard }},
	"soft_l":   {"soft resource list", func(to, from *grid.Job) { to.Soft = from.Soft }},
	"q":        {"hard queue list", func(to, from *grid.Job) { to.HardQueues = from.HardQueues }},
	"soft_q":   {"soft queue list", func(to, from *grid.Job) { to.SoftQueues = from.SoftQueues }},
	"master_l": {"master hard resource list", func(to, from *grid.Job) { to.MasterHard = from.MasterHard }},
	"slave_l":  {"slave hard resource list", func(to, from *grid.Job) { to.SlaveHard = from.SlaveHard }},
	"slave_q":  {"slave hard queue list", func(to, from *grid.Job) { to.SlaveQueues = from.SlaveQueues }},
	"masterq":  {"master hard queue list", func(to, from *grid.Job) { to.MasterQueues = from.MasterQueues }},
	"ar":       {"advance reservation", func(to, from *grid.Job) { to.AR = from.AR }},
	"pe":       {"parallel environment", func(to, from *grid.Job) { to.PE, to.PERange = from.PE, from.PERange }},
	"ckpt":     {"checkpointing environment", func(to, from *grid.Job) { to.Ckpt = from.Ckpt }},
	"c": {"checkpoint occasions", func(to, from *grid.Job) {
		to.CkptWhen, to.CkptSeconds = from.CkptWhen, from.CkptSeconds
	}},
	"binding":  {"binding", func(to, from *grid.Job) { to.Binding = from.Binding }},
	"R":        {"reservation behaviour", func(to, from *grid.Job) { to.Reserve = from.Reserve }},
	"r":        {"restart behaviour", func(to, from *grid.Job) { to.Restart = from.Restart }},
	"notify":   {"notify behaviour", func(to, from *grid.Job) { to.Notify = from.Notify }},
	"hold_jid": {"job id hold list", func(to, from *grid.Job) { to.PredecessorReq = from.PredecessorReq }},
	"hold_jid_ad": {"job id hold array list",
		func(to, from *grid.Job) { to.ArrayPredecessorReq = from.ArrayPredecessorReq }},
	"cwd":  {"working directory", spec(func(to, from *grid.JobSpec) { to.Cwd = from.Cwd })},
	"o":    {"stdout path list", spec(func(to, from *grid.JobSpec) { to.Stdout = from.Stdout })},
	"e":    {"stderr path list", spec(func(to, from *grid.JobSpec) { to.Stderr = from.Stderr })},
	"i":    {"stdin path list", spec(func(to, from *grid.JobSpec) { to.Stdin = from.Stdin })},
	"j":    {"output merge behaviour", spec(func(to, from *grid.JobSpec) { to.Merge = from.Merge })},
	"w":    {"verify mode", spec(func(to, from *grid.JobSpec) { to.Verify = from.Verify })},
	"S":    {"shell list", spec(func(to, from *grid.JobSpec) { to.Shell = from.Shell })},
	"m":    {"mail options", spec(func(to, from *grid.JobSpec) { to.MailOptions = from.MailOptions })},
	"M":    {"mail list", spec(func(to, from *grid.JobSpec) { to.MailTo = from.MailTo })},
	"v":    {"environment", spec(takeEnvironment)},
	"ac":   {"context", spec(addContext)},
	"sc":   {"context", spec(func(to, from *grid.JobSpec) { to.Context = from.Context })},
	"dc":   {"context", spec(deleteContext)},
	"args": {"job arguments", spec(func(to, from *grid.JobSpec) { to.Args = from.Args })},
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

// SetAttributes replaces the attributes of a job that a request names; refused: one of them may not be.
func SetAttributes(
	c *cell.Cell, r gdi.Request, b *gdi.Alter, j *grid.Job, started bool,
) (answers []gdi.Answer, refused bool) {
	fail := func(a *gdi.Answer) ([]gdi.Answer, bool) { return []gdi.Answer{*a}, true }
	from := b.Job
	for _, name := range b.Set {
		switch a, ok := Attributes[name]; {
		case name == "p":
			if from.Priority > j.Priority && !c.IsOperator(r) {
				return fail(gdi.Denied(fmt.Sprintf("denied: %q must be operator to increase job priority", r.User)))
			}
			j.Priority = from.Priority
			answers = append(
				answers, gdi.Done(fmt.Sprintf("%s@%s sets scheduling priority of job %d to %d", r.User, r.Host, j.ID, j.Priority)))
		case name == "ot":
			if !c.IsOperator(r) {
				return fail(gdi.Denied(fmt.Sprintf("denied: %q must be operator to change amount of override tickets", r.User)))
			}
			j.OverrideTickets = from.OverrideTickets
			answers = append(answers,
				gdi.Done(fmt.Sprintf("%s@%s sets override tickets of job %d to %d", r.User, r.Host, j.ID, j.OverrideTickets)))
		case name == "js":
			j.JobShare = from.JobShare
			answers = append(
				answers, gdi.Done(fmt.Sprintf("%s@%s sets job share of job %d to %d", r.User, r.Host, j.ID, j.JobShare)))
		case !ok:
			return fail(gdi.Invalid(name, fmt.Sprintf("denied: attribute %q of a job can't be changed", name)))
		case started && fixedByTasks.Has(name):
			return fail(gdi.Invalid(name, fmt.Sprintf("job %d can't modify running jobs", j.ID)))
		case name == "l" && b.Now:
			if refusal := gdi.Invalid(name, requestLimits(c, j, from.Hard)); refusal != nil {
				return fail(refusal)
			}
			answers = append(answers, gdi.Done(fmt.Sprintf("modified %s of job %d", a.noun, j.ID)))
		case name == "hold_jid" || name == "hold_jid_ad":
			a.take(j, from)
			text, refusal := waitFor(c, j, name)
			if refusal != nil {
				return fail(refusal)
			}
			answers = append(answers, gdi.Done(fmt.Sprintf("modified %s of job %d\n%s", a.noun, j.ID, text)))
		default:
			a.take(j, from)
			if name == "w" { // the verification says what there is to say
				continue
			}
			switch name {
			case "M":
				to, warnings := Mailable(j.Spec.MailTo)
				j.Spec.MailTo, answers = to, append(answers, warnings...)
			case "c": // says nothing
				continue
			case "ar":
				answers = append(
					answers, gdi.Done(fmt.Sprintf("%s@%s sets job advance reservation of job %d to %d", r.User, r.Host, j.ID, j.AR)))
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

// VerifyAltered is qalter -w: whether the job as it would be could run. With v
// and p that is all there is to do; with e it must.
func VerifyAltered(c *cell.Cell, j *grid.Job, started bool) (answers []gdi.Answer, goOn bool) {
	mode := j.Spec.Verify
	just := mode == "v" || mode == "p"
	if mode == "n" {
		return nil, true
	}
	if started || j.AnyHold() {
		return []gdi.Answer{gdi.Done("verification: job is already running or is held")}, !just
	}
	reasons := WhyUnplaceable(c, j, mode)
	switch {
	case just:
		return Verified(JobWord(j), reasons), false
	case len(reasons) > 0 && mode == "e":
		return []gdi.Answer{*gdi.Invalid("w", NoSuitableQueues)}, false
	case len(reasons) > 0:
		return []gdi.Answer{gdi.Warn("warning: no suitable queues")}, true
	}
	return nil, true
}

// AlteredJob returns why a job may not become another one, and looks up what that names; nil when it may.
func AlteredJob(c *cell.Cell, r gdi.Request, b *gdi.Alter, old, j *grid.Job) *gdi.Answer {
	if refusal := cmp.Or(gdi.Invalid("N", validJobName(j.Name)), gdi.Invalid("A", validObjectName(j.Account)),
		badPaths(c, j.Spec),
		gdi.Invalid("M", manyMails(c, b.Job.Spec.MailTo)), badAltered(c, r, j, b.Set), lookUp(c, j)); refusal != nil {
		return refusal
	}
	if reason := whyNotAdmitted(c, j); reason != whyNotAdmitted(c, old) { // what was already so may stay
		return gdi.Invalid("", reason)
	}
	return nil
}

func badAltered(c *cell.Cell, r gdi.Request, j *grid.Job, set []string) *gdi.Answer {
	switch {
	case noPriority(j) != nil:
		return noPriority(j)
	case slices.Contains(set, "binding") && badBinding(j) != "":
		return gdi.Invalid("binding", badBinding(j))
	case slices.Contains(set, "dl") && badDeadline(c, r, j) != "":
		return gdi.Denied(badDeadline(c, r, j))
	case slices.Contains(set, "ckpt") && j.Ckpt != "" && c.State.Ckpt(j.Ckpt) == nil:
		return gdi.Invalid("ckpt", fmt.Sprintf("denied: checkpointing environment %q does not exist", j.Ckpt))
	case slices.Contains(set, "P"):
		return badProject(c, r, j)
	case !j.Array && (len(j.ArrayPredecessorReq) > 0 || j.Concurrency > 0):
		return badTasks(c, j)
	}
	return nil
}

// waitFor resolves the jobs that a job is to wait for, and returns what Grid Engine prints of those that an option
// names.
func waitFor(c *cell.Cell, j *grid.Job, option string) (text string, refusal *gdi.Answer) {
	if refusal := cmp.Or(predecessors(c, j), gdi.Invalid(option, cycle(c, j))); refusal != nil {
		return "", refusal
	}
	named, found := j.PredecessorReq, j.Predecessors
	if option == "hold_jid_ad" {
		named, found = j.ArrayPredecessorReq, j.ArrayPredecessors
	}
	var exited []uint32
	for _, ref := range named {
		if id := cell.ParseJobID(ref); id != 0 && c.State.Job(id) == nil {
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
func cycle(c *cell.Cell, j *grid.Job) string {
	if slices.ContainsFunc(slices.Concat(j.PredecessorReq, j.ArrayPredecessorReq),
		func(ref string) bool { return cell.ParseJobID(ref) == j.ID }) {
		return fmt.Sprintf("denied: job \"%d\" may not be its own jobnet predecessor", j.ID)
	}
	seen := map[uint32]bool{}
	for rest := slices.Concat(j.Predecessors, j.ArrayPredecessors); len(rest) > 0; {
		id := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		p := c.State.Job(id)
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
