package core

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/sched"
)

// submit makes a job of a user's request, or answers why not, submit(1).
func (c *Core) submit(in Request, submitted *grid.Job) {
	j, refusal := c.newJob(in.Request, cmp.Or(in.Job, c.nextJob()), submitted)
	if refusal == nil {
		refusal = cmp.Or(deny(gdi.StatusLimit, "", c.badLimits(j)), tooBig(j), c.noRoom(j.Owner, nil, j))
	}
	if refusal != nil {
		c.reply(in.Ref, *refusal)
		return
	}
	to, warning := mailable(j.Spec.MailTo)
	if len(warning) > 0 { // the specification is shared with jobs submitted alike
		spec := *j.Spec
		spec.MailTo = to
		j.Spec = &spec
	}
	if mode := j.Spec.Verify; mode != "" && mode != "n" {
		reasons := c.unplaceable(j, mode)
		switch {
		case len(reasons) > 0 && mode == "e":
			c.reply(in.Ref, *wrong("w", noSuitableQueues))
			return
		case len(reasons) > 0 && mode == "w":
			warning = append(warning, gdi.Warn("warning: no suitable queues"))
		case mode == "v" || mode == "p":
			c.reply(in.Ref, verified(jobWord(j), reasons)...)
			return
		}
	}
	c.emit(events.Add(j))
	c.greet(j.Owner)
	c.submitted(in.Ref, j, j.ID, append(c.copyOfOthers(in), warning...)...)
}

// copyOfOthers warns a manager who submits a copy of another user's job: it runs with the manager's rights, as in Grid Engine.
func (c *Core) copyOfOthers(in Request) []gdi.Answer {
	of := c.state.Job(in.CopyOf)
	if of == nil || of.Owner == in.User {
		return nil
	}
	return []gdi.Answer{gdi.Warn(fmt.Sprintf("warning: the new job belongs to %s, and runs with the rights of %[1]s what %s has submitted as job %d", in.User, of.Owner, of.ID))}
}

// resubmit makes a job like another one.
func (c *Core) resubmit(in Request, b *gdi.Resubmit) {
	submitted, refusal := c.Like(in.Request, b)
	if submitted == nil {
		c.reply(in.Ref, refusal)
		return
	}
	in.CopyOf = b.Job
	c.submit(in, submitted)
}

// Like returns a new job that copies an existing one, or nil and the refusal.
func (c *Core) Like(r gdi.Request, b *gdi.Resubmit) (*grid.Job, gdi.Answer) {
	j, about := c.state.Job(b.Job), gdi.Subject{Job: b.Job}
	switch {
	case j == nil:
		return nil, gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("job \"%d\" does not exist", b.Job)).On(about)
	case j.Owner != r.User && !c.isManager(r):
		return nil, gdi.Deny(gdi.StatusNotOwner, fmt.Sprintf("job rejected: %s@%s is not allowed to resubmit jobs of user %s", r.User, r.Host, j.Owner)).On(about)
	case j.Spec.Connect != "":
		return nil, wrong("", fmt.Sprintf("job rejected: job %d is an interactive job, which can't be resubmitted", j.ID)).On(about)
	}
	submitted := *j
	held := func(letter string) grid.Ranges {
		if strings.Contains(b.Hold, letter) {
			return grid.Ranges{j.Tasks}
		}
		return nil
	}
	submitted.UserHold, submitted.OperHold, submitted.SysHold = held("u"), held("o"), held("s")
	if j.Spec.Session != "" {
		spec := *j.Spec
		spec.Session, spec.NoError = "", false
		submitted.Spec = &spec
	}
	return &submitted, gdi.Answer{}
}

// submitted answers a submit with the sentence that clients wait for.
func (c *Core) submitted(ref uint64, j *grid.Job, id uint32, before ...gdi.Answer) {
	text := append(make([]byte, 0, 80), "Your job"...)
	if t := j.Tasks; j.Array {
		text = fmt.Appendf(text, "-array %d.%d-%d:%d", id, t.First, t.Last, max(t.Step, 1))
	} else {
		text = strconv.AppendUint(append(text, ' '), uint64(id), 10)
	}
	text = append(strconv.AppendQuote(append(text, " ("...), j.Name), ") has been submitted"...)
	c.reply(ref, append(before, gdi.Done(string(text)))...)
	r := c.lastReply()
	r.Job, r.Tasks, r.Array = id, j.Tasks, j.Array
	r.Seq = c.state.Seq // also of a repeated request, which changes nothing
}

// newJob completes a submitted job, which gets the number id: it sets what only qmaster may set, looks up names and
// normalises resource requests. Without a job the answer is the refusal.
func (c *Core) newJob(r gdi.Request, id uint32, submitted *grid.Job) (*grid.Job, *gdi.Answer) {
	j := *submitted
	if j.Spec.SubmitHost != r.Host { // else it is shared with jobs submitted alike
		spec := *submitted.Spec
		spec.SubmitHost = r.Host
		j.Spec = &spec
	}
	j.ID = id
	j.Version, j.OverrideTickets = 0, 0
	if j.Former != nil {
		j.Ask().Former = nil
	}
	j.Owner, j.Group, j.UID, j.GID = r.User, r.Group, r.UID, r.GID
	j.Submit = c.now
	if !j.Array {
		j.Tasks = grid.Range{First: 1, Last: 1, Step: 1}
	}
	j.Tasks.Step = max(j.Tasks.Step, 1)
	j.Pending = grid.Ranges{{First: j.Tasks.First, Last: grid.Ranges{j.Tasks}.Last(), Step: j.Tasks.Step}}
	j.Account = cmp.Or(j.Account, grid.DefaultAccount)
	j.Department = c.department(r)
	if refusal := cmp.Or(denied(c.mayPlaceJobs(r)), c.badTasks(&j), wrong("N", validJobName(j.Name)), wrong("A", validObjectName(j.Account)),
		c.badPriority(r, &j), denied(c.badDeadline(r, &j)), wrong("binding", badBinding(&j)), c.badPaths(j.Spec),
		wrong("M", c.manyMails(j.Spec.MailTo)), badCkpt(&j), wrong("", badScript(j.Spec)), c.badProject(r, &j), badMasterQueue(&j)); refusal != nil {
		return nil, refusal
	}
	if refusal := c.lookUp(&j); refusal != nil {
		return nil, refusal
	}
	if refusal := wrong("", c.admitted(&j)); refusal != nil {
		return nil, refusal
	}
	// A whole hold from the client covers all tasks.
	j.UserHold, j.OperHold, j.SysHold = whole(j.UserHold, j.Pending), whole(j.OperHold, j.Pending), whole(j.SysHold, j.Pending)
	switch {
	case len(j.OperHold) > 0 && !c.isOperator(r):
		return nil, denied("denied: \"" + r.User + "\" must be operator to set an operator hold")
	case len(j.SysHold) > 0 && !c.isManager(r):
		return nil, denied("denied: \"" + r.User + "\" must be manager to set a system hold")
	}
	if refusal := c.predecessors(&j); refusal != nil {
		return nil, refusal
	}
	return &j, nil
}

// badMasterQueue checks -masterq of a new job, and -c beside -ckpt.
func badMasterQueue(j *grid.Job) *gdi.Answer {
	switch {
	case len(j.MasterQueues) > 0 && j.PE == "":
		return wrong("masterq", "job rejected: specification of master queue is not allowed for non-parallel jobs")
	case j.Ckpt != "" && j.CkptWhen == "n":
		return wrong("c", "job rejected: checkpointing with \"-c n\" requested")
	}
	return nil
}

// badPaths refuses path lists that name two files for one host, or for all, or
// one for a host that there is not.
func (c *Core) badPaths(spec *grid.JobSpec) *gdi.Answer {
	return cmp.Or(wrong("i", c.badPathList(spec.Stdin)), wrong("o", c.badPathList(spec.Stdout)), wrong("e", c.badPathList(spec.Stderr)), wrong("S", c.badPathList(spec.Shell)))
}

func (c *Core) badPathList(list grid.Names) string {
	for i, path := range list {
		host := hostOf(path)
		switch {
		case path == "", strings.HasSuffix(path, ":"):
			return "paths may not be empty strings"
		case host != "" && !c.hostKnown(host):
			return fmt.Sprintf("can't resolve hostname %q", host)
		}
		if slices.ContainsFunc(list[:i], func(p string) bool { return strings.EqualFold(hostOf(p), host) }) {
			return "ERROR! two files are specified for the same host"
		}
	}
	return ""
}

// badScript refuses scripts that no shell can read: those with a NUL byte, as
// every program file has.
func badScript(spec *grid.JobSpec) string {
	if bytes.IndexByte(spec.Script, 0) >= 0 {
		return "Script length does not match declared length"
	}
	return ""
}

// hostKnown reports whether a host belongs to the cell. No job can run on others.
func (c *Core) hostKnown(name string) bool {
	for _, k := range [...]grid.Kind{grid.KindExecHost, grid.KindAdminHost, grid.KindSubmitHost} {
		if c.state.Get(k, grid.Key{Name: name}) != nil || c.state.Get(k, grid.Key{Name: strings.ToLower(name)}) != nil {
			return true
		}
	}
	return false
}

// strangeHost refuses requests for a host that there is not; of patterns that
// match none it says nothing.
func (c *Core) strangeHost(lists ...grid.Requests) string {
	for _, l := range lists {
		if r, ok := l.Get("hostname"); ok && pattern.Compile(r.Value, true).Plain() && !c.hostKnown(r.Value) {
			return fmt.Sprintf("can't resolve hostname %q", r.Value)
		}
	}
	return ""
}

// hostOf is the host of a [[host]:]path; "" for all hosts.
func hostOf(path string) string {
	host, _, _ := strings.Cut(path, ":")
	if host == path {
		return ""
	}
	return host
}

// department is the department user set that has the user, or the default one.
func (c *Core) department(r gdi.Request) string {
	for _, u := range c.settings().departments {
		if u.Contains(r.User, r.Group) {
			return u.Name
		}
	}
	return grid.DefaultDepartment
}

// whole widens a non-empty hold to all of the job's tasks.
func whole(hold, all grid.Ranges) grid.Ranges {
	if len(hold) == 0 {
		return nil
	}
	return all
}

func (c *Core) mayPlaceJobs(r gdi.Request) string {
	s := c.settings()
	tooLow := func(what string, is, least uint32) string {
		return fmt.Sprintf("job rejected: your %s id %d is lower than minimum %s id %d of cluster configuration", what, is, what, least)
	}
	switch {
	case r.UID < s.leastUser:
		return tooLow("user", r.UID, s.leastUser)
	case r.GID < s.leastGroup:
		return tooLow("group", r.GID, s.leastGroup)
	case s.needsUser && c.state.User(r.User) == nil:
		return fmt.Sprintf("job rejected: the user %q does not exist", r.User)
	case !c.permits(r.User, r.Group, s.users, s.xusers):
		return fmt.Sprintf("job rejected: %s@%s is not allowed to submit jobs", r.User, r.Host)
	}
	return ""
}

func (c *Core) badTasks(j *grid.Job) *gdi.Answer {
	n := j.Tasks.Count()
	switch limit := c.settings().maxTasks; {
	case n == 0 || j.Tasks.First == 0:
		return wrong("t", "job rejected: 0 is an invalid task id")
	case j.Array && limit > 0 && n > limit:
		return wrong("t", fmt.Sprintf("job rejected: you tried to submit a job with more than %d tasks", limit))
	case !j.Array && len(j.ArrayPredecessorReq) > 0:
		return wrong("hold_jid_ad", `Can only specify "-hold_jid_ad" option with an array job (using "-t" option)`)
	case !j.Array && j.Concurrency > 0:
		return wrong("tc", `invalid "task concurrency" value in job request`)
	}
	return nil
}

func (c *Core) badLimits(j *grid.Job) string {
	if limit := c.settings().maxJobs; limit > 0 && c.state.Len(grid.KindJob) >= int(limit) {
		return fmt.Sprintf("job rejected: only %d jobs are allowed per cluster", limit)
	}
	if limit := c.settings().maxUserJobs; limit > 0 {
		if n := uint32(c.state.Owned(j.Owner)); n >= limit {
			return fmt.Sprintf("job rejected: only %d jobs are allowed per user (current job count: %d)", limit, n)
		}
	}
	return ""
}

// validJobName follows sge_types(1) object_name for -N.
func validJobName(n string) string {
	switch {
	case n == "":
		return "job rejected cause there is no job_name in the request"
	case n[0] >= '0' && n[0] <= '9':
		return fmt.Sprintf("denied: %q is not a valid object name (cannot start with a digit)", n)
	case len(n) > longestJobName:
		return fmt.Sprintf("job name too long, maximum allowed length is %d characters", longestJobName)
	}
	return validObjectName(n)
}

// longestJobName is how many bytes the name of a job, or an account, may have.
const longestJobName = 512

// refusedInNames are the characters that neither job names nor accounts may
// have: the accounting file divides by colons and lines, commands read the
// others as patterns and places. Besides them only printable ASCII without the
// blank is allowed, so that names are safe in every listing.
const refusedInNames = "\n\t\r/:@\\*?"

var refusedCalled = [...]string{"Return", "Tab", "Carriage return", "Slash ('/')", "Colon (':')",
	"At ('@')", "Backslash ('\\')", "Asterisk ('*')", "Questionmark ('?')"}

// validObjectName follows sge_types(1) object_name.
func validObjectName(n string) string {
	if i := strings.IndexAny(n, refusedInNames); i >= 0 {
		return refusedCalled[strings.IndexByte(refusedInNames, n[i])] + " not allowed in objectname"
	}
	if len(n) > longestJobName {
		return fmt.Sprintf("object name too long, maximum allowed length is %d characters", longestJobName)
	}
	for i := range len(n) {
		if n[i] <= ' ' || n[i] > '~' {
			return fmt.Sprintf("Character %q not allowed in objectname: only printable ASCII characters without blanks are", n[i:i+1])
		}
	}
	return keyword(n)
}

func (c *Core) badPriority(r gdi.Request, j *grid.Job) *gdi.Answer {
	if j.Priority > 0 && j.Priority <= 1024 && !c.isOperator(r) {
		return denied("job rejected: positive submission priority requires operator privileges")
	}
	return noPriority(j)
}

func noPriority(j *grid.Job) *gdi.Answer {
	if j.Priority < -1023 || j.Priority > 1024 {
		return wrong("p", fmt.Sprintf("invalid priority %d. must be an integer from -1023 to 1024", j.Priority))
	}
	return nil
}

func badBinding(j *grid.Job) string {
	if j.Binding == nil {
		return ""
	}
	if wrong := j.Binding.Validate(); wrong != "" {
		return "job rejected: " + wrong
	}
	return ""
}

// badDeadline: -dl is for the users of the list deadlineusers, access_list(5).
func (c *Core) badDeadline(r gdi.Request, j *grid.Job) string {
	if j.Deadline == 0 {
		return ""
	}
	if u := c.state.Userset("deadlineusers"); u == nil || !u.Contains(r.User, r.Group) {
		return fmt.Sprintf("job rejected: the user %q is not a deadline initiation user", r.User)
	}
	return ""
}

func (c *Core) badProject(r gdi.Request, j *grid.Job) *gdi.Answer {
	s := c.settings()
	if j.Project == "" {
		switch u := c.state.User(r.User); {
		case u != nil:
			j.Project = u.DefaultProject
		case s.makesUsers: // greet makes one
			j.Project = c.param("auto_user_default_project")
		}
	}
	if j.Project == "" {
		switch {
		case s.needsProject:
			return wrong("P", "job rejected: no project assigned to job")
		case len(s.projects) > 0:
			return wrong("P", "job rejected: no project was supplied and only certain projects are allowed to submit jobs")
		}
		return nil
	}
	p := c.state.Project(j.Project)
	if p == nil {
		return wrong("P", fmt.Sprintf("job rejected: the requested project %q does not exist", j.Project))
	}
	if !c.permits(r.User, r.Group, p.ACL, p.XACL) {
		return denied(fmt.Sprintf("job rejected: no access to project %q for user %q", j.Project, r.User))
	}
	if s.xprojects.Has(j.Project) || len(s.projects) > 0 && !s.projects.Has(j.Project) {
		return denied(fmt.Sprintf("job rejected: project %q is not allowed to submit jobs", j.Project))
	}
	return nil
}

// lookUp checks everything that a job names and normalises its requests.
func (c *Core) lookUp(j *grid.Job) *gdi.Answer {
	if refusal := wrong("l", c.lookUpRequests(j)); refusal != nil { // the others rely on it
		return refusal
	}
	return cmp.Or(c.lookUpScopes(j), wrong("q", c.strangeQueue(j.HardQueues, j.SoftQueues)), wrong("masterq", c.strangeQueue(j.MasterQueues)),
		wrong("q", c.strangeQueue(j.SlaveQueues)), wrong("pe", c.badPE("job", j.PE, j.PERange)), wrong("ckpt", c.lookUpCkpt(j)), wrong("ar", c.badAR(j)))
}

// strangeQueue refuses requests for a queue that there is not.
func (c *Core) strangeQueue(lists ...grid.Names) string {
	for _, list := range lists {
		for _, q := range list {
			if !c.queueKnown(q) {
				return fmt.Sprintf("Job was rejected because job requests unknown queue %q", q)
			}
		}
	}
	return ""
}

// badPE checks -pe of a job or reservation, as noun says.
func (c *Core) badPE(noun, pe string, slots grid.Ranges) string {
	switch {
	case pe == "":
		return ""
	case !c.peKnown(pe):
		return fmt.Sprintf("job rejected: the requested parallel environment %q does not exist", pe)
	case slots.First() == 0:
		return fmt.Sprintf("%q rejected: pe range must be greater than zero", noun)
	}
	return ""
}

func (c *Core) lookUpRequests(j *grid.Job) string {
	hard, err := c.cluster.Complex().Normalise(j.Hard)
	if err != nil {
		return err.Error()
	}
	soft, err := c.cluster.Complex().NormaliseSoft(j.Soft)
	if err != nil {
		return err.Error()
	}
	if text := c.strangeHost(hard, soft); text != "" {
		return text
	}
	if !slices.Equal(hard, j.Hard) || !slices.Equal(soft, j.Soft) {
		r := j.Ask()
		r.Hard, r.Soft = hard, soft
	}
	return ""
}

// badReference returns why a reference of -hold_jid is neither the number nor the
// name of a job: names do not begin with a digit, tasks cannot be waited for.
func badReference(refs grid.Names) string {
	for _, ref := range refs {
		if ref == "" || ref[0] >= '0' && ref[0] <= '9' && parseJobID(ref) == 0 && strings.Trim(ref, "0123456789.") == "" {
			return fmt.Sprintf("denied: job %q not found", ref)
		}
	}
	return ""
}

// predecessors resolves -hold_jid and -hold_jid_ad to the jobs that have not
// ended: by number, or the owner's jobs by name pattern.
func (c *Core) predecessors(j *grid.Job) *gdi.Answer {
	if refusal := cmp.Or(wrong("hold_jid", badReference(j.PredecessorReq)), wrong("hold_jid_ad", badReference(j.ArrayPredecessorReq))); refusal != nil {
		return refusal
	}
	j.Predecessors = c.resolveJobs(j.Owner, j.PredecessorReq, j.ID)
	j.ArrayPredecessors = c.resolveJobs(j.Owner, j.ArrayPredecessorReq, j.ID)
	j.ArrayHold = nil
	for _, id := range j.ArrayPredecessors {
		p := c.state.Job(id)
		switch {
		case !p.Array:
			return wrong("hold_jid_ad", `Can only specify "-hold_jid_ad" option with an array job (using "-t" option)`)
		case p.Tasks.First != j.Tasks.First || p.Tasks.Last != j.Tasks.Last:
			return wrong("hold_jid_ad", "This array job must have the same range of sub-tasks as the dependent array job specified with -hold_jid_ad")
		}
		gone := c.goneTasks(p)
		j.ArrayHold = grid.Ranges{j.Tasks}.Filter(func(task uint32) bool {
			return j.ArrayHold.Contains(task) || c.waitsFor(j, task, p, gone)
		})
	}
	return nil
}

func (c *Core) resolveJobs(owner string, refs grid.Names, self uint32) []uint32 {
	if len(refs) == 0 {
		return nil
	}
	var ids []uint32
	have := map[uint32]bool{}
	put := func(id uint32) {
		if id != self && !have[id] {
			have[id] = true
			ids = append(ids, id)
		}
	}
	var names grid.Names
	for _, ref := range refs {
		if id := parseJobID(ref); id == 0 {
			names = append(names, ref)
		} else if c.state.Job(id) != nil {
			put(id)
		}
	}
	set := newNameSet(names)
	if set.empty() {
		return ids
	}
	c.state.EachOwned(owner, func(p *grid.Job) bool {
		if set.match(p.Name) {
			put(p.ID)
		}
		return true
	})
	return ids
}

// goneTasks are the ids of an array's tasks that have ended.
func (c *Core) goneTasks(j *grid.Job) func(uint32) bool {
	return func(task uint32) bool {
		return !j.Tasks.Contains(task) || !j.Pending.Contains(task) && c.state.Task(j.ID, task) == nil
	}
}

// waitsFor reports whether a task must wait for tasks of an array predecessor:
// those whose step covers a number that its own step covers.
func (c *Core) waitsFor(j *grid.Job, task uint32, p *grid.Job, gone func(uint32) bool) bool {
	last := task + max(j.Tasks.Step, 1) - 1
	step := max(p.Tasks.Step, 1)
	first := p.Tasks.First
	if task > first {
		first += (task - first) / step * step
	}
	for n := first; n <= last && n <= p.Tasks.Last; n += step {
		if !gone(n) {
			return true
		}
	}
	return false
}

// verify answers qsub -w v|p for a job that is not submitted.
func (c *Core) verify(r Request, b *gdi.Verify) []gdi.Answer {
	j, refusal := c.newJob(r.Request, cmp.Or(r.Job, c.nextJob()), b.Job)
	if refusal != nil {
		return []gdi.Answer{*refusal}
	}
	return verified(jobWord(j), c.unplaceable(j, b.Mode))
}

const noSuitableQueues = "error: no suitable queues"

// jobWord begins each sentence of a verification.
func jobWord(j *grid.Job) string { return fmt.Sprintf("Job %d ", j.ID) }

func verified(who string, reasons []string) []gdi.Answer {
	if len(reasons) == 0 {
		return []gdi.Answer{gdi.Done("verification: found suitable queue(s)")}
	}
	for i := range reasons {
		reasons[i] = who + reasons[i]
	}
	return []gdi.Answer{*wrong("w", strings.Join(append(reasons, "verification: no suitable queues"), "\n"))}
}

// unplaceable returns why a job could never run: in the empty cluster, or as it
// is now with mode p. Nothing when it could.
func (c *Core) unplaceable(j *grid.Job, mode string) []string {
	if mode == "p" {
		return c.cluster.Unplaceable(j, c.now)
	}
	return sched.Emptied(c.state).Unplaceable(j, c.now)
}
