package validate

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
	"github.com/quill-grid/quill/pkg/reason"
	"github.com/quill-grid/quill/pkg/sched"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// whyNotAdmitted asks the algorithm whether a job may be submitted.
func whyNotAdmitted(c *cell.Cell, j *grid.Job) string {
	if admit := c.Settings().Admit; admit != nil {
		return admit(j, c.State)
	}
	return ""
}

// CopyOfOthers warns a manager who submits a copy of another user's job: it runs with the manager's rights, as in Grid
// Engine.
func CopyOfOthers(c *cell.Cell, user string, job uint32) []gdi.Answer {
	of := c.State.Job(job)
	if of == nil || of.Owner == user {
		return nil
	}
	return []gdi.Answer{
		gdi.Warn(
			fmt.Sprintf("warning: the new job belongs to %s, and runs with the rights of %[1]s what %s has submitted as job %d",
				user, of.Owner, of.ID))}
}

// NewJob completes a submitted job, which gets the number id: it sets what only qmaster may set, looks up names and
// normalises resource requests. Without a job the answer is the refusal.
func NewJob(c *cell.Cell, r gdi.Request, id uint32, submitted *grid.Job) (*grid.Job, *gdi.Answer) {
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
	j.Submit = c.Now
	if !j.Array {
		j.Tasks = grid.Range{First: 1, Last: 1, Step: 1}
	}
	j.Tasks.Step = max(j.Tasks.Step, 1)
	j.Pending = grid.Ranges{{First: j.Tasks.First, Last: grid.Ranges{j.Tasks}.Last(), Step: j.Tasks.Step}}
	j.Account = cmp.Or(j.Account, grid.DefaultAccount)
	j.Department = c.DepartmentOf(r)
	if refusal := cmp.Or(gdi.Denied(mayPlaceJobs(c, r)), badTasks(c, &j), gdi.Invalid("N", validJobName(j.Name)),
		gdi.Invalid("A", validObjectName(j.Account)),
		badPriority(c, r, &j), gdi.Denied(badDeadline(c, r, &j)), gdi.Invalid("binding", badBinding(&j)),
		badPaths(c, j.Spec),
		gdi.Invalid("M", manyMails(c, j.Spec.MailTo)), badCkpt(&j), gdi.Invalid("", badScript(j.Spec)),
		badProject(c, r, &j), badMasterQueue(&j)); refusal != nil {
		return nil, refusal
	}
	if refusal := lookUp(c, &j); refusal != nil {
		return nil, refusal
	}
	if refusal := gdi.Invalid("", whyNotAdmitted(c, &j)); refusal != nil {
		return nil, refusal
	}
	// A whole hold from the client covers all tasks.
	j.UserHold, j.OperHold, j.SysHold = whole(j.UserHold, j.Pending), whole(j.OperHold, j.Pending),
		whole(j.SysHold, j.Pending)
	switch {
	case len(j.OperHold) > 0 && !c.IsOperator(r):
		return nil, gdi.Denied("denied: \"" + r.User + "\" must be operator to set an operator hold")
	case len(j.SysHold) > 0 && !c.IsManager(r):
		return nil, gdi.Denied("denied: \"" + r.User + "\" must be manager to set a system hold")
	}
	if refusal := predecessors(c, &j); refusal != nil {
		return nil, refusal
	}
	return &j, nil
}

// badMasterQueue checks -masterq of a new job, and -c beside -ckpt.
func badMasterQueue(j *grid.Job) *gdi.Answer {
	switch {
	case len(j.MasterQueues) > 0 && j.PE == "":
		return gdi.Invalid("masterq", "job rejected: specification of master queue is not allowed for non-parallel jobs")
	case j.Ckpt != "" && j.CkptWhen == "n":
		return gdi.Invalid("c", "job rejected: checkpointing with \"-c n\" requested")
	}
	return nil
}

// badPaths refuses path lists that name two files for one host, or for all, or
// one for a host that there is not.
func badPaths(c *cell.Cell, spec *grid.JobSpec) *gdi.Answer {
	return cmp.Or(gdi.Invalid("i", badPathList(c, spec.Stdin)), gdi.Invalid("o", badPathList(c, spec.Stdout)),
		gdi.Invalid("e", badPathList(c, spec.Stderr)), gdi.Invalid("S", badPathList(c, spec.Shell)))
}

func badPathList(c *cell.Cell, list grid.Names) string {
	for i, path := range list {
		host := hostOf(path)
		switch {
		case path == "", strings.HasSuffix(path, ":"):
			return "paths may not be empty strings"
		case host != "" && !c.HasHost(host):
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

// strangeHost refuses requests for a host that there is not; of patterns that
// match none it says nothing.
func strangeHost(c *cell.Cell, lists ...grid.Requests) string {
	for _, l := range lists {
		if r, ok := l.Get("hostname"); ok && pattern.Compile(r.Value, true).Plain() && !c.HasHost(r.Value) {
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

// whole widens a non-empty hold to all of the job's tasks.
func whole(hold, all grid.Ranges) grid.Ranges {
	if len(hold) == 0 {
		return nil
	}
	return all
}

func mayPlaceJobs(c *cell.Cell, r gdi.Request) string {
	s := c.Settings()
	tooLow := func(what string, is, least uint32) string {
		return fmt.Sprintf("job rejected: your %s id %d is lower than minimum %s id %d of cluster configuration",
			what, is, what, least)
	}
	switch {
	case r.UID < s.LeastUser:
		return tooLow("user", r.UID, s.LeastUser)
	case r.GID < s.LeastGroup:
		return tooLow("group", r.GID, s.LeastGroup)
	case s.NeedsUser && c.State.User(r.User) == nil:
		return fmt.Sprintf("job rejected: the user %q does not exist", r.User)
	case !c.Permits(r.User, r.Group, s.Users, s.Xusers):
		return fmt.Sprintf("job rejected: %s@%s is not allowed to submit jobs", r.User, r.Host)
	}
	return ""
}

func badTasks(c *cell.Cell, j *grid.Job) *gdi.Answer {
	n := j.Tasks.Count()
	switch limit := c.Settings().MaxTasks; {
	case n == 0 || j.Tasks.First == 0:
		return gdi.Invalid("t", "job rejected: 0 is an invalid task id")
	case j.Array && limit > 0 && n > limit:
		return gdi.Invalid("t", fmt.Sprintf("job rejected: you tried to submit a job with more than %d tasks", limit))
	case !j.Array && len(j.ArrayPredecessorReq) > 0:
		return gdi.Invalid("hold_jid_ad", `Can only specify "-hold_jid_ad" option with an array job (using "-t" option)`)
	case !j.Array && j.Concurrency > 0:
		return gdi.Invalid("tc", `invalid "task concurrency" value in job request`)
	}
	return nil
}

// TooManyJobs returns why a job is one too many for its user or the cell, "" when it is not.
func TooManyJobs(c *cell.Cell, j *grid.Job) string {
	if limit := c.Settings().MaxJobs; limit > 0 && c.State.Len(grid.KindJob) >= int(limit) {
		return fmt.Sprintf("job rejected: only %d jobs are allowed per cluster", limit)
	}
	if limit := c.Settings().MaxUserJobs; limit > 0 {
		if n := uint32(c.State.Owned(j.Owner)); n >= limit {
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
			return fmt.Sprintf("Character %q not allowed in objectname: only printable ASCII characters without blanks are",
				n[i:i+1])
		}
	}
	return keyword(n)
}

func badPriority(c *cell.Cell, r gdi.Request, j *grid.Job) *gdi.Answer {
	if j.Priority > 0 && j.Priority <= 1024 && !c.IsOperator(r) {
		return gdi.Denied("job rejected: positive submission priority requires operator privileges")
	}
	return noPriority(j)
}

func noPriority(j *grid.Job) *gdi.Answer {
	if j.Priority < -1023 || j.Priority > 1024 {
		return gdi.Invalid("p", fmt.Sprintf("invalid priority %d. must be an integer from -1023 to 1024", j.Priority))
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
func badDeadline(c *cell.Cell, r gdi.Request, j *grid.Job) string {
	if j.Deadline == 0 {
		return ""
	}
	if u := c.State.Userset("deadlineusers"); u == nil || !u.Contains(r.User, r.Group) {
		return fmt.Sprintf("job rejected: the user %q is not a deadline initiation user", r.User)
	}
	return ""
}

func badProject(c *cell.Cell, r gdi.Request, j *grid.Job) *gdi.Answer {
	s := c.Settings()
	if j.Project == "" {
		switch u := c.State.User(r.User); {
		case u != nil:
			j.Project = u.DefaultProject
		case s.MakesUsers: // greet makes one
			j.Project = c.Param("auto_user_default_project")
		}
	}
	if j.Project == "" {
		switch {
		case s.NeedsProject:
			return gdi.Invalid("P", "job rejected: no project assigned to job")
		case len(s.Projects) > 0:
			return gdi.Invalid(
				"P", "job rejected: no project was supplied and only certain projects are allowed to submit jobs")
		}
		return nil
	}
	p := c.State.Project(j.Project)
	if p == nil {
		return gdi.Invalid("P", fmt.Sprintf("job rejected: the requested project %q does not exist", j.Project))
	}
	if !c.Permits(r.User, r.Group, p.ACL, p.XACL) {
		return gdi.Denied(fmt.Sprintf("job rejected: no access to project %q for user %q", j.Project, r.User))
	}
	if s.Xprojects.Has(j.Project) || len(s.Projects) > 0 && !s.Projects.Has(j.Project) {
		return gdi.Denied(fmt.Sprintf("job rejected: project %q is not allowed to submit jobs", j.Project))
	}
	return nil
}

// lookUp checks everything that a job names and normalises its requests.
func lookUp(c *cell.Cell, j *grid.Job) *gdi.Answer {
	if refusal := gdi.Invalid("l", lookUpRequests(c, j)); refusal != nil { // the others rely on it
		return refusal
	}
	return cmp.Or(lookUpScopes(c, j), gdi.Invalid("q", strangeQueue(c, j.HardQueues, j.SoftQueues)),
		gdi.Invalid("masterq", strangeQueue(c, j.MasterQueues)),
		gdi.Invalid("q", strangeQueue(c, j.SlaveQueues)), gdi.Invalid("pe", badPE(c, "job", j.PE, j.PERange)),
		gdi.Invalid("ckpt", lookUpCkpt(c, j)), gdi.Invalid("ar", badAR(c, j)))
}

// strangeQueue refuses requests for a queue that there is not.
func strangeQueue(c *cell.Cell, lists ...grid.Names) string {
	for _, list := range lists {
		for _, q := range list {
			if !c.HasQueue(q) {
				return fmt.Sprintf("Job was rejected because job requests unknown queue %q", q)
			}
		}
	}
	return ""
}

// badPE checks -pe of a job or reservation, as noun says.
func badPE(c *cell.Cell, noun, pe string, slots grid.Ranges) string {
	switch {
	case pe == "":
		return ""
	case !c.HasPE(pe):
		return fmt.Sprintf("job rejected: the requested parallel environment %q does not exist", pe)
	case slots.First() == 0:
		return fmt.Sprintf("%q rejected: pe range must be greater than zero", noun)
	}
	return ""
}

func lookUpRequests(c *cell.Cell, j *grid.Job) string {
	hard, err := c.Cluster.Complex().Normalise(j.Hard)
	if err != nil {
		return err.Error()
	}
	soft, err := c.Cluster.Complex().NormaliseSoft(j.Soft)
	if err != nil {
		return err.Error()
	}
	if text := strangeHost(c, hard, soft); text != "" {
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
		if ref == "" || ref[0] >= '0' && ref[0] <= '9' && cell.ParseJobID(ref) == 0 &&
			strings.Trim(ref, "0123456789.") == "" {
			return fmt.Sprintf("denied: job %q not found", ref)
		}
	}
	return ""
}

// predecessors resolves -hold_jid and -hold_jid_ad to the jobs that have not
// ended: by number, or the owner's jobs by name pattern.
func predecessors(c *cell.Cell, j *grid.Job) *gdi.Answer {
	if refusal := cmp.Or(gdi.Invalid("hold_jid", badReference(j.PredecessorReq)),
		gdi.Invalid("hold_jid_ad", badReference(j.ArrayPredecessorReq))); refusal != nil {
		return refusal
	}
	j.Predecessors = resolveJobs(c, j.Owner, j.PredecessorReq, j.ID)
	j.ArrayPredecessors = resolveJobs(c, j.Owner, j.ArrayPredecessorReq, j.ID)
	j.ArrayHold = nil
	for _, id := range j.ArrayPredecessors {
		p := c.State.Job(id)
		switch {
		case !p.Array:
			return gdi.Invalid("hold_jid_ad", `Can only specify "-hold_jid_ad" option with an array job (using "-t" option)`)
		case p.Tasks.First != j.Tasks.First || p.Tasks.Last != j.Tasks.Last:
			return gdi.Invalid("hold_jid_ad",
				"This array job must have the same range of sub-tasks as the dependent array job specified with -hold_jid_ad")
		}
		gone := c.GoneTasks(p)
		j.ArrayHold = grid.Ranges{j.Tasks}.Filter(func(task uint32) bool {
			return j.ArrayHold.Contains(task) || c.WaitsFor(j, task, p, gone)
		})
	}
	return nil
}

func resolveJobs(c *cell.Cell, owner string, refs grid.Names, self uint32) []uint32 {
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
		if id := cell.ParseJobID(ref); id == 0 {
			names = append(names, ref)
		} else if c.State.Job(id) != nil {
			put(id)
		}
	}
	set := cell.NewNameSet(names)
	if set.Empty() {
		return ids
	}
	c.State.EachOwned(owner, func(p *grid.Job) bool {
		if set.Match(p.Name) {
			put(p.ID)
		}
		return true
	})
	return ids
}

const NoSuitableQueues = "error: no suitable queues"

// JobWord begins each sentence of a verification.
func JobWord(j *grid.Job) string { return fmt.Sprintf("Job %d ", j.ID) }

// Verified answers a verification: the reasons, each after who, why there are no suitable queues.
func Verified(who string, reasons []reason.Reason) []gdi.Answer {
	if len(reasons) == 0 {
		return []gdi.Answer{gdi.Done("verification: found suitable queue(s)")}
	}
	texts := reason.Texts(reasons)
	for i := range texts {
		texts[i] = who + texts[i]
	}
	return []gdi.Answer{*gdi.Invalid("w", strings.Join(append(texts, "verification: no suitable queues"), "\n"))}
}

// WhyUnplaceable returns why a job could never run: in the empty cluster, or as it
// is now with mode p. Nothing when it could.
func WhyUnplaceable(c *cell.Cell, j *grid.Job, mode string) []reason.Reason {
	if mode == "p" {
		return c.Cluster.Unplaceable(j, c.Now)
	}
	return sched.Emptied(c.Cluster).Unplaceable(j, c.Now)
}
