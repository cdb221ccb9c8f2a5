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

// Client describes the submission of a job that a submission verifier checks.
type Client struct {
	Context     string // client or server
	Program     string // the command; qmaster
	User, Group string
	Job         uint32    // the number that is set aside for it; 0: none yet
	Host        string    // where it is submitted
	Now         time.Time // whose zone the verifier is in
}

// param is one parameter of a job, jsv_script_interface(3). A verifier's change is read
// as the switch that sets it: words and the value are parsed by the switch's row of the table.
type param struct {
	name  string
	value func(*grid.Job, Client) string                   // empty: not sent
	unset func(*grid.Job)                                  // as if the switch had not been given
	words []string                                         // nil: the switch is called as the parameter is
	set   func(s *Submission, p param, value string) error // nil: the switch is given again
}

// params are all parameters that a verifier may change, in the order in which they are
// sent.
var params = []param{
	{name: "a", value: timeValue(func(j *grid.Job) grid.Time { return j.ExecTime }),
		unset: func(j *grid.Job) { j.ExecTime = 0 }},
	{name: "ac", value: func(j *grid.Job, _ Client) string { return valueList(j.Spec.Context) }, set: setContextOf},
	{name: "ar", value: number32(func(j *grid.Job) uint32 { return j.AR }), unset: func(j *grid.Job) { j.AR = 0 }},
	{name: "A", value: accountValue, unset: func(j *grid.Job) { j.Account = "" }},
	{name: "b", value: yesValue(func(j *grid.Job) bool { return j.Binary }), set: setBoolean},
	{name: "c_interval", words: []string{"-c"}, value: ckptInterval, unset: neverCheckpointed},
	{name: "c_occasion", words: []string{"-c"}, value: func(j *grid.Job, _ Client) string { return j.CkptWhen },
		unset: neverCheckpointed},
	{name: "ckpt", value: func(j *grid.Job, _ Client) string { return j.Ckpt }, unset: func(j *grid.Job) { j.Ckpt = "" }},
	{name: "cwd", words: []string{"-wd"}, value: func(j *grid.Job, _ Client) string { return j.Spec.Cwd },
		unset: func(j *grid.Job) { j.Spec.Cwd = "" }},
	{name: "display", value: func(j *grid.Job, _ Client) string { v, _ := j.Spec.Env.Get("DISPLAY"); return v },
		set: setDisplay},
	{name: "dl", value: timeValue(func(j *grid.Job) grid.Time { return j.Deadline }),
		unset: func(j *grid.Job) { j.Deadline = 0 }},
	{name: "e", value: namesValue(func(j *grid.Job) grid.Names { return j.Spec.Stderr }),
		unset: func(j *grid.Job) { j.Spec.Stderr = nil }},
	{name: "hold_jid", value: namesValue(func(j *grid.Job) grid.Names { return j.PredecessorReq }),
		unset: func(j *grid.Job) { j.PredecessorReq = nil }},
	{name: "hold_jid_ad", value: namesValue(func(j *grid.Job) grid.Names { return j.ArrayPredecessorReq }),
		unset: func(j *grid.Job) { j.ArrayPredecessorReq = nil }},
	{name: "h", value: holdsValue, set: setHolds},
	{name: "i", value: namesValue(func(j *grid.Job) grid.Names { return j.Spec.Stdin }),
		unset: func(j *grid.Job) { j.Spec.Stdin = nil }},
	{name: "j", value: yesValue(func(j *grid.Job) bool { return j.Spec.Merge }), set: setBoolean},
	{name: "js", value: number32(func(j *grid.Job) uint32 { return j.JobShare }),
		unset: func(j *grid.Job) { j.JobShare = 0 }},
	{name: "l_hard", words: []string{"-hard", "-l"}, value: func(j *grid.Job, _ Client) string { return j.Hard.Text() },
		unset: func(j *grid.Job) { j.Hard = nil }},
	{name: "l_soft", words: []string{"-soft", "-l"}, value: func(j *grid.Job, _ Client) string { return j.Soft.Text() },
		unset: func(j *grid.Job) { j.Soft = nil }},
	{name: "m", value: func(j *grid.Job, _ Client) string { return strings.Trim(j.Spec.MailOptions, "n") },
		unset: func(j *grid.Job) { j.Spec.MailOptions = "" }},
	{name: "M", value: mailTo, unset: func(j *grid.Job) { j.Spec.MailTo = nil }},
	{name: "master_l_hard", words: []string{"-scope", "master", "-hard", "-l"}, value: func(j *grid.Job, _ Client) string {
		return j.MasterHard.Text()
	}, unset: func(j *grid.Job) { j.MasterHard = nil }},
	{name: "slave_l_hard", words: []string{"-scope", "slave", "-hard", "-l"}, value: func(j *grid.Job, _ Client) string {
		return j.SlaveHard.Text()
	}, unset: func(j *grid.Job) { j.SlaveHard = nil }},
	{name: "slave_q_hard", words: []string{"-scope", "slave", "-hard", "-q"},
		value: namesValue(func(j *grid.Job) grid.Names {
			return j.SlaveQueues
		}), unset: func(j *grid.Job) { j.SlaveQueues = nil }},
	{name: "masterq", value: namesValue(func(j *grid.Job) grid.Names { return j.MasterQueues }),
		unset: func(j *grid.Job) { j.MasterQueues = nil }},
	{name: "notify", value: yesValue(func(j *grid.Job) bool { return j.Notify }),
		set: func(s *Submission, p param, value string) error {
			return readBoolean(p, value, &s.Job.Notify)
		}},
	{name: "N", value: func(j *grid.Job, _ Client) string { return j.Name },
		unset: func(j *grid.Job) { j.Name = filepath.Base(j.Spec.Command) }},
	{name: "o", value: namesValue(func(j *grid.Job) grid.Names { return j.Spec.Stdout }),
		unset: func(j *grid.Job) { j.Spec.Stdout = nil }},
	{name: "p", value: func(j *grid.Job, _ Client) string { return notZero(int64(j.Priority)) },
		unset: func(j *grid.Job) { j.Priority = 0 }},
	{name: "tc", value: number32(func(j *grid.Job) uint32 { return j.Concurrency }),
		unset: func(j *grid.Job) { j.Concurrency = 0 }},
	{name: "P", value: func(j *grid.Job, _ Client) string { return j.Project },
		unset: func(j *grid.Job) { j.Project = "" }},
	{name: "bamount", value: unitsOf(func(b *grid.Binding) string { return strconv.FormatUint(uint64(b.Amount), 10) }),
		set: setUnits},
	{name: "bunit", value: unitsOf(func(b *grid.Binding) string { return b.Unit }), set: setUnits},
	{name: "btype", value: unitsOf(func(b *grid.Binding) string { return b.Type }), set: setUnits},
	{name: "bfilter", value: unitsOf(func(b *grid.Binding) string { return b.Filter }), set: setUnits},
	{name: "binstance", value: unitsOf(func(b *grid.Binding) string { return b.Instance }), set: setUnits},
	{name: "binding_strategy", value: hintOf(func(b *grid.Binding) string { return b.Strategy }), set: setBinding},
	{name: "binding_type", value: hintOf(func(b *grid.Binding) string { return b.Instance }), set: setBinding},
	{name: "binding_amount", value: bindingNumber(isCounted, func(b *grid.Binding) uint32 { return b.Amount }),
		set: setBinding},
	{name: "binding_step", value: bindingNumber(isStriding, func(b *grid.Binding) uint32 { return b.Step }),
		set: setBinding},
	{name: "binding_socket", value: bindingNumber(hasFirstCore, func(b *grid.Binding) uint32 { return b.Cores[0].Socket }),
		set: setBinding},
	{name: "binding_core", value: bindingNumber(hasFirstCore, func(b *grid.Binding) uint32 { return b.Cores[0].Core }),
		set: setBinding},
	{name: "binding_exp_n", value: bindingNumber(isExplicit, func(b *grid.Binding) uint32 { return uint32(len(b.Cores)) }),
		set: setBinding},
	{name: "pe_name", value: func(j *grid.Job, _ Client) string { return j.PE }, set: setPE},
	{name: "pe_min", value: slotsValue(func(r grid.Ranges) uint32 { return r.First() }), set: setPE},
	{name: "pe_max", value: slotsValue(func(r grid.Ranges) uint32 { return r[len(r)-1].Last }), set: setPE},
	{name: "q_hard", words: []string{"-hard", "-q"},
		value: namesValue(func(j *grid.Job) grid.Names { return j.HardQueues }),
		unset: func(j *grid.Job) { j.HardQueues = nil }},
	{name: "q_soft", words: []string{"-soft", "-q"},
		value: namesValue(func(j *grid.Job) grid.Names { return j.SoftQueues }),
		unset: func(j *grid.Job) { j.SoftQueues = nil }},
	{name: "R", value: yesValue(func(j *grid.Job) bool { return j.Reserve }), set: setBoolean},
	{name: "r", value: yesValue(func(j *grid.Job) bool { return j.Restart == grid.RestartYes }), set: setBoolean},
	{name: "shell", value: shellValue, set: setBoolean},
	{name: "S", value: namesValue(func(j *grid.Job) grid.Names { return j.Spec.Shell }),
		unset: func(j *grid.Job) { j.Spec.Shell = nil }},
	{name: "t_min", value: taskValue(func(t grid.Range) uint32 { return t.First }), set: setTasks},
	{name: "t_max", value: taskValue(func(t grid.Range) uint32 { return t.Last }), set: setTasks},
	{name: "t_step", value: taskValue(func(t grid.Range) uint32 { return max(t.Step, 1) }), set: setTasks},
	{name: "w", value: func(j *grid.Job, _ Client) string { return strings.Trim(j.Spec.Verify, "n") },
		unset: func(j *grid.Job) { j.Spec.Verify = "" }},
}

// readOnly are sent, and no verifier can change them.
var readOnly = grid.Names{"VERSION", "CONTEXT", "CLIENT", "USER", "GROUP", "JOB_ID"}

// JSVJob returns a job as a submission verifier receives it. JOB_ID is set by qmaster,
// which has set a number aside.
func JSVJob(j *grid.Job, from Client) jsv.JobDescription {
	spec := j.Spec
	list := []jsv.Param{
		{Name: "VERSION", Value: jsv.Version}, {Name: "CONTEXT", Value: from.Context}, {Name: "CLIENT", Value: from.Program},
		{Name: "USER", Value: from.User}, {Name: "GROUP", Value: from.Group},
	}
	if from.Job != 0 {
		list = append(list, jsv.Param{Name: "JOB_ID", Value: strconv.FormatUint(uint64(from.Job), 10)})
	}
	list = append(list, jsv.Param{Name: "CMDNAME", Value: spec.Command},
		jsv.Param{Name: "CMDARGS", Value: strconv.Itoa(len(spec.Args))})
	for i, arg := range spec.Args {
		list = append(list, jsv.Param{Name: "CMDARG" + strconv.Itoa(i), Value: arg})
	}
	for _, p := range params {
		if value := p.value(j, from); value != "" {
			list = append(list, jsv.Param{Name: p.name, Value: value})
		}
	}
	list = append(list, explicitCores(j)...)
	var env grid.Values
	for _, v := range spec.Env {
		if isExported(v.Name) {
			env = append(env, v)
		}
	}
	return jsv.JobDescription{Params: list, Env: env}
}

// Corrected returns a copy of the job with the changes of a submission verifier. It fails
// with the reason when a change is refused, which rejects the job.
func Corrected(j *grid.Job, changes []jsv.Correction, from Client) (*grid.Job, error) {
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
	for list := slices.SortedStableFunc(slices.Values(changes), strategyFirst); len(list) > 0; {
		n, err := s.applyChange(list)
		if err != nil {
			return nil, err
		}
		list = list[n:]
	}
	return s.Job, s.checkChanges()
}

// applyChange makes the first of some changes, with those of variables that follow one, and returns how many these are.
func (s *Submission) applyChange(list []jsv.Correction) (n int, err error) {
	if !list[0].Env {
		return 1, s.changeParam(list[0])
	}
	var env grid.Assigned
	env.Set(s.Job.Spec.Env...)
	for ; n < len(list) && list[n].Env; n++ {
		switch c := list[n]; {
		case c.Drop:
			env.Drop(grid.Values{{Name: c.Name}})
		case !isExported(c.Name):
			return n, switches.Errorf("JSV tries to set %q, which is not the job's to have", c.Name)
		default:
			env.Set(grid.Value{Name: c.Name, Text: c.Value})
		}
	}
	s.Job.Spec.Env = env.Values()
	return n, nil
}

func (s *Submission) changeParam(c jsv.Correction) error {
	switch i := slices.IndexFunc(params, func(p param) bool { return p.name == c.Name }); {
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
		params[i].unset(s.Job)
		if c.Value != "" {
			return params[i].applySwitch(s, c.Value)
		}
	}
	return nil
}

// applySwitch applies the parameter's switch with a value.
func (p param) applySwitch(s *Submission, value string) error {
	s.beginSource()
	words := p.words
	if words == nil {
		words = []string{"-" + p.name}
	}
	s.queues = true // -q adds to what is there, of the other kind
	return s.table.Parse(s, append(slices.Clone(words), value))
}

// checkChanges checks what only all changes together say.
func (s *Submission) checkChanges() error {
	j := s.Job
	if n := len(j.PERange); n > 0 && j.PERange[0].First > j.PERange[n-1].Last {
		return switches.Errorf("JSV tries to set \"pe_min\" to \"%d\" and \"pe_max\" to \"%d\"", j.PERange[0].First,
			j.PERange[n-1].Last)
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
		s.lengthenRange(int(n))
		spec.Args = spec.Args[:n]
	default:
		n, err := strconv.ParseUint(strings.TrimPrefix(p.Name, "CMDARG"), 10, 32)
		if err != nil || n >= argsMax {
			return switches.Errorf("JSV tries to set unknown parameter %q", p.Name)
		}
		s.lengthenRange(int(n) + 1)
		spec.Args[n] = p.Value
	}
	if _, sent := spec.Env.Get("QRSH_COMMAND"); sent {
		spec.Env = spec.Env.With("QRSH_COMMAND", strings.Join(append([]string{spec.Command}, spec.Args...), " "))
	}
	return nil
}

func (s *Submission) lengthenRange(n int) {
	spec := s.Job.Spec
	spec.Args = append(spec.Args, make([]string, max(0, n-len(spec.Args)))...)
}
