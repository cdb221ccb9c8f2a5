package submit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
	"github.com/quill-grid/quill/pkg/switches"
)

var bindInstances = []string{grid.BindEnv, grid.BindPE, grid.BindSet}

// takeBinding takes [env|pe|set] strategy.
func takeBinding(rest []string) int {
	if len(rest) > 0 && slices.Contains(bindInstances, rest[0]) {
		return switches.Two(rest)
	}
	return switches.One(rest)
}

// setBinding is -binding of qsub(1).
func (s *Submission) setBinding(words []string) error {
	instance := grid.BindSet
	if len(words) == 2 {
		instance = words[0]
	}
	b, wrong := grid.ParseBinding(instance, words[len(words)-1])
	if wrong != "" {
		return switches.Errorf("-binding option contains errors: %s", wrong)
	}
	s.Job.Binding = b
	return nil
}

// bindingOf returns the value function of a parameter that only jobs with a binding have.
func bindingOf(of func(*grid.Binding) string) func(*grid.Job, Client) string {
	return func(j *grid.Job, _ Client) string {
		if j.Binding == nil {
			return ""
		}
		return of(j.Binding)
	}
}

// hintOf is bindingOf for bindings that execd decides.
func hintOf(of func(*grid.Binding) string) func(*grid.Job, Client) string {
	return bindingOf(func(b *grid.Binding) string {
		if b.Decided() {
			return ""
		}
		return of(b)
	})
}

// bindingNumber makes that of a number, for the strategies it has a meaning for.
func bindingNumber(has func(*grid.Binding) bool, n func(*grid.Binding) uint32) func(*grid.Job, Client) string {
	return hintOf(func(b *grid.Binding) string {
		if !has(b) {
			return ""
		}
		return strconv.FormatUint(uint64(n(b)), 10)
	})
}

func isExplicit(b *grid.Binding) bool   { return b.Strategy == grid.BindExplicit }
func isCounted(b *grid.Binding) bool    { return !isExplicit(b) }
func isStriding(b *grid.Binding) bool   { return b.Strategy == grid.BindStriding }
func hasFirstCore(b *grid.Binding) bool { return !isExplicit(b) && len(b.Cores) > 0 }

// The two parameters of each core of an explicit binding are called so, and by
// its position after that.
const (
	expSocket = "binding_exp_socket"
	expCore   = "binding_exp_core"
)

// explicitCores returns the cores of an explicit binding as parameters.
func explicitCores(j *grid.Job) (list []jsv.Param) {
	if j.Binding == nil || !isExplicit(j.Binding) {
		return nil
	}
	for i, c := range j.Binding.Cores {
		id := strconv.Itoa(i)
		list = append(list, jsv.Param{Name: expSocket + id, Value: strconv.FormatUint(uint64(c.Socket), 10)},
			jsv.Param{Name: expCore + id, Value: strconv.FormatUint(uint64(c.Core), 10)})
	}
	return list
}

// setBinding sets one of binding_strategy, binding_type, binding_amount and so on.
// Contradictions between them are detected when the job is submitted.
func setBinding(s *Submission, p param, value string) error {
	wrong := switches.Errorf("JSV tries to set %q to %q", p.name, value)
	b := s.ownBinding()
	if b.Decided() {
		*b = grid.Binding{Instance: b.Instance}
	}
	n, err := switches.Number(value)
	bad := err != nil || n > grid.BindSlots
	switch p.name {
	case "binding_strategy":
		return s.setStrategy(value, wrong)
	case "binding_type":
		if !slices.Contains(bindInstances, value) {
			return wrong
		}
		b.Instance = value
		return nil
	case "binding_amount":
		b.Amount = n
	case "binding_step":
		b.Step = n
	case "binding_exp_n":
		if bad || n > argsMax {
			return wrong
		}
		b.Cores = append(b.Cores, make([]grid.CoreID, max(0, int(n)-len(b.Cores)))...)[:n]
	case "binding_socket", "binding_core":
		if value == "" && isCounted(b) {
			b.Cores = nil
			return nil
		}
		if len(b.Cores) == 0 {
			b.Cores = make([]grid.CoreID, 1)
		}
		if p.name == "binding_socket" {
			b.Cores[0].Socket = n
		} else {
			b.Cores[0].Core = n
		}
	}
	if bad {
		return wrong
	}
	return nil
}

// ownBinding gives the job a binding of its own to be changed.
func (s *Submission) ownBinding() *grid.Binding {
	b := grid.Binding{Instance: grid.BindSet}
	if s.Job.Binding != nil {
		b = *s.Job.Binding
		b.Cores = slices.Clone(b.Cores)
	}
	s.Job.Binding = &b
	return &b
}

// setStrategy changes the strategy, and drops what another one needed. Verifiers
// of Grid Engine may call a strategy without a place to begin automatic.
func (s *Submission) setStrategy(value string, wrong error) error {
	b := s.Job.Binding
	strategy, anywhere := strings.CutSuffix(value, "_automatic")
	switch {
	case value == "":
		s.Job.Binding = nil
		return nil
	case strategy == grid.BindExplicit && !anywhere:
		b.Amount, b.Step = 0, 0
	case strategy == grid.BindLinear:
		b.Step = 0
	case strategy != grid.BindStriding:
		return wrong
	}
	if anywhere || isExplicit(b) != (strategy == grid.BindExplicit) {
		b.Cores = nil
	}
	b.Strategy = strategy
	return nil
}

// setExplicit is a parameter of a core of an explicit binding.
func (s *Submission) setExplicit(p jsv.Param) error {
	name := strings.TrimRight(p.Name, "0123456789")
	i, err := strconv.ParseUint(strings.TrimPrefix(p.Name, name), 10, 32)
	if err != nil || i >= argsMax {
		return switches.Errorf("JSV tries to set unknown parameter %q", p.Name)
	}
	b := s.ownBinding()
	n, err := switches.Number(p.Value)
	if err != nil || n > grid.BindSlots || !isExplicit(b) {
		return switches.Errorf("JSV tries to set %q to %q", p.Name, p.Value)
	}
	b.Cores = append(b.Cores, make([]grid.CoreID, max(0, int(i)+1-len(b.Cores)))...)
	if name == expSocket {
		b.Cores[i].Socket = n
	} else {
		b.Cores[i].Core = n
	}
	return nil
}

// strategyFirst puts the strategy of a binding before what depends on it.
func strategyFirst(a, b jsv.Correction) int {
	first := func(c jsv.Correction) int {
		if !c.Env && c.Name == "binding_strategy" {
			return 0
		}
		return 1
	}
	return first(a) - first(b)
}

// takeUnits applies one of -bamount, -bunit and so on of qsub(1), which make a binding that the scheduler decides. An
// amount of 0 is none.
func takeUnits(to **grid.Binding, option, value string) error {
	b := &grid.Binding{Instance: grid.BindSet, Strategy: grid.BindPacked, Unit: "C", Type: grid.BindSlot}
	if (*to).Decided() {
		own := **to
		b = &own
	}
	*to = b
	switch option {
	case "bamount":
		n, err := switches.Number(value)
		if err != nil || n > grid.BindSlots {
			return switches.Invalidf("invalid option argument \"-bamount %s\": must be a number of units", value)
		}
		if b.Amount = n; n == 0 {
			*to = nil
		}
		return nil
	case "bunit":
		b.Unit = value
	case "btype":
		b.Type = value
	case "bfilter":
		if b.Filter = value; strings.EqualFold(value, "none") {
			b.Filter = ""
		}
	case "binstance":
		b.Instance = value
	case "bstrategy":
		if value != grid.BindPacked {
			return switches.Errorf("-bstrategy %s is not supported: there is pack alone", value)
		}
	}
	probe := *b
	probe.Amount = 1 // it may come later
	if wrong := probe.Validate(); wrong != "" {
		return switches.Errorf("-%s option contains errors: %s", option, wrong)
	}
	return nil
}

// unitsSwitch is one of these options.
func unitsSwitch(name, args, help string) jobSwitch {
	return jobSwitch{"", sw{Name: name, Args: args, Help: help, Take: switches.One,
		Set: func(s *Submission, w []string) error { return takeUnits(&s.Job.Binding, name, w[0]) }}}
}

// bookingUnits is one of these options of qrsub(1).
func bookingUnits(name, args, help string) switches.Switch[Booking] {
	return switches.Switch[Booking]{Name: name, Args: args, Help: help, Take: switches.One,
		Set: func(w *Booking, words []string) error { return takeUnits(&w.Binding, name, words[0]) }}
}

// unitsOf returns the value function of a parameter that only jobs with a binding of the scheduler have.
func unitsOf(of func(*grid.Binding) string) func(*grid.Job, Client) string {
	return bindingOf(func(b *grid.Binding) string {
		if !b.Decided() {
			return ""
		}
		return of(b)
	})
}

// setUnits sets one of these parameters.
func setUnits(s *Submission, p param, value string) error {
	if value == "" && p.name == "bamount" {
		value = "0"
	} else if value == "" && p.name == "bfilter" {
		value = "none"
	}
	if err := takeUnits(&s.Job.Binding, p.name, value); err != nil {
		return switches.Errorf("JSV tries to set %q to %q", p.name, value)
	}
	return nil
}
