package submit

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
	"github.com/quill-grid/quill/pkg/switches"
)

// Asker is whose job a submission verifier looks at, and where.
type Asker struct {
	Context     string // client or server
	Client      string // the command; qmaster
	User, Group string
	Job         uint32    // the number that is set aside for it; 0: none yet
	Host        string    // where it is submitted
	Now         time.Time // whose zone the verifier is in
}

// param is one parameter of a job, jsv_script_interface(3). The words of the
// switch that sets it stand before its value: the switch's own row of the table
// reads that.
type param struct {
	name   string
	tell   func(*grid.Job, Asker) string                    // empty: it is not told
	unsaid func(*grid.Job)                                  // as if the switch had not been given
	words  []string                                         // nil: the switch is called as the parameter is
	set    func(s *Submission, p param, value string) error // nil: the switch is given again
}

// params are all that a verifier may change, in the order in which they are told.
var params = []param{
	{name: "a", tell: moment(func(j *grid.Job) grid.Time { return j.ExecTime }), unsaid: func(j *grid.Job) { j.ExecTime = 0 }},
	{name: "ac", tell: func(j *grid.Job, _ Asker) string { return valueList(j.Spec.Context) }, unsaid: func(j *grid.Job) { j.Spec.Context = nil }},
	{name: "ar", tell: number32(func(j *grid.Job) uint32 { return j.AR }), unsaid: func(j *grid.Job) { j.AR = 0 }},
	{name: "A", tell: account, unsaid: func(j *grid.Job) { j.Account = "" }},
	{name: "b", tell: yes(func(j *grid.Job) bool { return j.Binary }), set: boolean},
	{name: "c_interval", words: []string{"-c"}, tell: ckptInterval, unsaid: neverCheckpointed},
	{name: "c_occasion", words: []string{"-c"}, tell: func(j *grid.Job, _ Asker) string { return j.CkptWhen }, unsaid: neverCheckpointed},
	{name: "ckpt", tell: func(j *grid.Job, _ Asker) string { return j.Ckpt }, unsaid: func(j *grid.Job) { j.Ckpt = "" }},
	{name: "cwd", words: []string{"-wd"}, tell: func(j *grid.Job, _ Asker) string { return j.Spec.Cwd }, unsaid: func(j *grid.Job) { j.Spec.Cwd = "" }},
	{name: "display", tell: func(j *grid.Job, _ Asker) string { v, _ := j.Spec.Env.Get("DISPLAY"); return v }, set: setDisplay},
	{name: "dl", tell: moment(func(j *grid.Job) grid.Time { return j.Deadline }), unsaid: func(j *grid.Job) { j.Deadline = 0 }},
	{name: "e", tell: names(func(j *grid.Job) grid.Names { return j.Spec.Stderr }), unsaid: func(j *grid.Job) { j.Spec.Stderr = nil }},
	{name: "hold_jid", tell: names(func(j *grid.Job) grid.Names { return j.PredecessorReq }), unsaid: func(j *grid.Job) { j.PredecessorReq = nil }},
	{name: "hold_jid_ad", tell: names(func(j *grid.Job) grid.Names { return j.ArrayPredecessorReq }), unsaid: func(j *grid.Job) { j.ArrayPredecessorReq = nil }},
	{name: "h", tell: tellHolds, set: setHolds},
	{name: "i", tell: names(func(j *grid.Job) grid.Names { return j.Spec.Stdin }), unsaid: func(j *grid.Job) { j.Spec.Stdin = nil }},
	{name: "j", tell: yes(func(j *grid.Job) bool { return j.Spec.Merge }), set: boolean},
	{name: "js", tell: number32(func(j *grid.Job) uint32 { return j.JobShare }), unsaid: func(j *grid.Job) { j.JobShare = 0 }},
	{name: "l_hard", words: []string{"-hard", "-l"}, tell: func(j *grid.Job, _ Asker) string { return j.Hard.Text() }, unsaid: func(j *grid.Job) { j.Hard = nil }},
	{name: "l_soft", words: []string{"-soft", "-l"}, tell: func(j *grid.Job, _ Asker) string { return j.Soft.Text() }, unsaid: func(j *grid.Job) { j.Soft = nil }},
	{name: "m", tell: func(j *grid.Job, _ Asker) string { return strings.Trim(j.Spec.MailOptions, "n") }, unsaid: func(j *grid.Job) { j.Spec.MailOptions = "" }},
	{name: "M", tell: mailTo, unsaid: func(j *grid.Job) { j.Spec.MailTo = nil }},
	{name: "masterq", tell: names(func(j *grid.Job) grid.Names { return j.MasterQueues }), unsaid: func(j *grid.Job) { j.MasterQueues = nil }},
	{name: "notify", tell: yes(func(j *grid.Job) bool { return j.Notify }), set: func(s *Submission, p param, value string) error {
		return truth(p, value, &s.Job.Notify)
	}},
	{name: "N", tell: func(j *grid.Job, _ Asker) string { return j.Name }, unsaid: func(j *grid.Job) { j.Name = filepath.Base(j.Spec.Command) }},
	{name: "o", tell: names(func(j *grid.Job) grid.Names { return j.Spec.Stdout }), unsaid: func(j *grid.Job) { j.Spec.Stdout = nil }},
	{name: "p", tell: func(j *grid.Job, _ Asker) string { return notZero(int64(j.Priority)) }, unsaid: func(j *grid.Job) { j.Priority = 0 }},
	{name: "tc", tell: number32(func(j *grid.Job) uint32 { return j.Concurrency }), unsaid: func(j *grid.Job) { j.Concurrency = 0 }},
	{name: "P", tell: func(j *grid.Job, _ Asker) string { return j.Project }, unsaid: func(j *grid.Job) { j.Project = "" }},
	{name: "binding_strategy", tell: bindingOf(func(b *grid.Binding) string { return b.Strategy }), set: setBinding},
	{name: "binding_type", tell: bindingOf(func(b *grid.Binding) string { return b.Instance }), set: setBinding},
	{name: "binding_amount", tell: bindingNumber(counted, func(b *grid.Binding) uint32 { return b.Amount }), set: setBinding},
	{name: "binding_step", tell: bindingNumber(striding, func(b *grid.Binding) uint32 { return b.Step }), set: setBinding},
	{name: "binding_socket", tell: bindingNumber(begins, func(b *grid.Binding) uint32 { return b.Cores[0].Socket }), set: setBinding},
	{name: "binding_core", tell: bindingNumber(begins, func(b *grid.Binding) uint32 { return b.Cores[0].Core }), set: setBinding},
	{name: "binding_exp_n", tell: bindingNumber(explicit, func(b *grid.Binding) uint32 { return uint32(len(b.Cores)) }), set: setBinding},
	{name: "pe_name", tell: func(j *grid.Job, _ Asker) string { return j.PE }, set: setPE},
	{name: "pe_min", tell: slots(func(r grid.Ranges) uint32 { return r.First() }), set: setPE},
	{name: "pe_max", tell: slots(func(r grid.Ranges) uint32 { return r[len(r)-1].Last }), set: setPE},
	{name: "q_hard", words: []string{"-hard", "-q"}, tell: names(func(j *grid.Job) grid.Names { return j.HardQueues }), unsaid: func(j *grid.Job) { j.HardQueues = nil }},
	{name: "q_soft", words: []string{"-soft", "-q"}, tell: names(func(j *grid.Job) grid.Names { return j.SoftQueues }), unsaid: func(j *grid.Job) { j.SoftQueues = nil }},
	{name: "R", tell: yes(func(j *grid.Job) bool { return j.Reserve }), set: boolean},
	{name: "r", tell: yes(func(j *grid.Job) bool { return j.Restart == grid.RestartYes }), set: boolean},
	{name: "shell", tell: tellShell, set: boolean},
	{name: "S", tell: names(func(j *grid.Job) grid.Names { return j.Spec.Shell }), unsaid: func(j *grid.Job) { j.Spec.Shell = nil }},
	{name: "t_min", tell: task(func(t grid.Range) uint32 { return t.First }), set: setTasks},
	{name: "t_max", tell: task(func(t grid.Range) uint32 { return t.Last }), set: setTasks},
	{name: "t_step", tell: task(func(t grid.Range) uint32 { return max(t.Step, 1) }), set: setTasks},
	{name: "w", tell: func(j *grid.Job, _ Asker) string { return strings.Trim(j.Spec.Verify, "n") }, unsaid: func(j *grid.Job) { j.Spec.Verify = "" }},
}

// readOnly are told, and nobody can change them.
var readOnly = grid.Names{"VERSION", "CONTEXT", "CLIENT", "USER", "GROUP", "JOB_ID"}

// Wish is what a submission verifier is told of a job: JOB_ID by qmaster, which
// has set a number aside.
func Wish(j *grid.Job, from Asker) jsv.Wish {
	spec := j.Spec
	list := []jsv.Param{
		{Name: "VERSION", Value: jsv.Version}, {Name: "CONTEXT", Value: from.Context}, {Name: "CLIENT", Value: from.Client},
		{Name: "USER", Value: from.User}, {Name: "GROUP", Value: from.Group},
	}
	if from.Job != 0 {
		list = append(list, jsv.Param{Name: "JOB_ID", Value: strconv.FormatUint(uint64(from.Job), 10)})
	}
	list = append(list, jsv.Param{Name: "CMDNAME", Value: spec.Command}, jsv.Param{Name: "CMDARGS", Value: strconv.Itoa(len(spec.Args))})
	for i, arg := range spec.Args {
		list = append(list, jsv.Param{Name: "CMDARG" + strconv.Itoa(i), Value: arg})
	}
	for _, p := range params {
		if value := p.tell(j, from); value != "" {
			list = append(list, jsv.Param{Name: p.name, Value: value})
		}
	}
	list = append(list, explicitCores(j)...)
	var env grid.Values
	for _, v := range spec.Env {
		if exported(v.Name) {
			env = append(env, v)
		}
	}
	return jsv.Wish{Params: list, Env: env}
}

// Corrected is the job with the changes that a submission verifier wants; the job
// itself stays as it is. The error says why the job is rejected.
func Corrected(j *grid.Job, changes []jsv.Change, from Asker) (*grid.Job, error) {
	if len(changes) == 0 {
		return j, nil
	}
	own, spec := *j, *j.Spec
	own.Spec = &spec
	own.Ask()
	spec.Env, spec.Args = slices.Clone(spec.Env), slices.Clone(spec.Args)
	o := Origin{Now: func() time.Time { return from.Now }}
	s := Qsub(o).New(nil)
	s.Job = &own
	for _, c := range slices.SortedStableFunc(slices.Values(changes), strategyFirst) {
		if err := s.change(c); err != nil {
			return nil, err
		}
	}
	return s.Job, s.sound()
}

func (s *Submission) change(c jsv.Change) error {
	env := &s.Job.Spec.Env
	switch i := slices.IndexFunc(params, func(p param) bool { return p.name == c.Name }); {
	case c.Env && c.Drop:
		*env = slices.DeleteFunc(*env, func(v grid.Value) bool { return v.Name == c.Name })
	case c.Env && !exported(c.Name):
		return switches.Errorf("JSV tries to set %q, which is not the job's to have", c.Name)
	case c.Env:
		*env = env.With(c.Name, c.Value)
	case readOnly.Has(c.Name):
		return switches.Errorf("JSV tries to modify read-only parameter %q", c.Name)
	case strings.HasPrefix(c.Name, "CMD"):
		return s.setCommand(c.Param)
	case strings.HasPrefix(c.Name, expSocket), strings.HasPrefix(c.Name, expCore):
		return s.setExplicit(c.Param)
	case i < 0:
		return switches.Errorf("JSV tries to set unknown parameter %q", c.Name)
	case params[i].set != nil:
		return params[i].set(s, params[i], c.Value)
	default:
		params[i].unsaid(s.Job)
		if c.Value != "" {
			return params[i].give(s, c.Value)
		}
	}
	return nil
}

// give gives the parameter's switch with a value.
func (p param) give(s *Submission, value string) error {
	s.begin()
	words := p.words
	if words == nil {
		words = []string{"-" + p.name}
	}
	s.queues = true // -q adds to what is there, of the other kind
	return s.table.Parse(s, append(slices.Clone(words), value))
}

// sound checks what only all changes together say.
func (s *Submission) sound() error {
	j := s.Job
	if n := len(j.PERange); n > 0 && j.PERange[0].First > j.PERange[n-1].Last {
		return switches.Errorf("JSV tries to set \"pe_min\" to \"%d\" and \"pe_max\" to \"%d\"", j.PERange[0].First, j.PERange[n-1].Last)
	}
	if j.Tasks.First > j.Tasks.Last {
		return switches.Errorf("JSV tries to set \"t_min\" to \"%d\" and \"t_max\" to \"%d\"", j.Tasks.First, j.Tasks.Last)
	}
	if !j.Binary && len(j.Spec.Script) == 0 && j.Spec.Connect == "" {
		return switches.Errorf("job rejected: no script in your request")
	}
	if j.Binding != nil && j.Binding.Strategy == "" {
		j.Binding = nil // a type or an amount alone is none
	}
	j.Pending = grid.Ranges{switches.Exact(j.Tasks)}
	if len(j.UserHold) > 0 {
		j.UserHold = j.Pending
	}
	return nil
}

// argsMax is how many arguments a verifier may say that there are.
const argsMax = 1 << 16

// setCommand is CMDNAME, CMDARGS and CMDARG0, CMDARG1, ...
func (s *Submission) setCommand(p jsv.Param) error {
	spec := s.Job.Spec
	wrong := switches.Errorf("JSV tries to set %q to %q", p.Name, p.Value)
	switch {
	case p.Name == "CMDNAME" && p.Value == "":
		return wrong
	case p.Name == "CMDNAME":
		spec.Command = p.Value
	case p.Name == "CMDARGS":
		n, err := strconv.ParseUint(p.Value, 10, 32)
		if err != nil || n > argsMax {
			return wrong
		}
		s.lengthen(int(n))
		spec.Args = spec.Args[:n]
	default:
		n, err := strconv.ParseUint(strings.TrimPrefix(p.Name, "CMDARG"), 10, 32)
		if err != nil || n >= argsMax {
			return switches.Errorf("JSV tries to set unknown parameter %q", p.Name)
		}
		s.lengthen(int(n) + 1)
		spec.Args[n] = p.Value
	}
	if _, told := spec.Env.Get("QRSH_COMMAND"); told {
		spec.Env = spec.Env.With("QRSH_COMMAND", strings.Join(append([]string{spec.Command}, spec.Args...), " "))
	}
	return nil
}

func (s *Submission) lengthen(n int) {
	spec := s.Job.Spec
	spec.Args = append(spec.Args, make([]string, max(0, n-len(spec.Args)))...)
}
