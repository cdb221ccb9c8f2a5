package grid

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Binding is a request for processor cores that no other job is bound to: a hint for execd, -binding of
// qsub(1), or with BindPacked a condition of the start, -bamount of qsub(1): the scheduler decides.
type Binding struct {
	Instance string `see:"keep"` // BindEnv, BindPE or BindSet: who binds
	Strategy string `see:"keep"` // BindLinear, BindStriding, BindExplicit or BindPacked
	// of cores, BindSlots: as many as the job has slots on the host; 0 with BindExplicit. BindPacked: of units
	Amount uint32
	Step   uint32 // BindStriding: from one core to the next

	// Cores are those of BindExplicit; of the others, at most one: where they begin.
	Cores []CoreID

	// Of BindPacked alone.
	Unit   string `see:"keep"` // what Amount counts, one of BindUnits
	Type   string `see:"keep"` // BindSlot or BindHost: what Amount is for
	Filter string `see:"keep"` // a topology string: what is in lower case is not taken; "": nothing is excluded
}

// CoreID is a core by the logical numbers of its socket and, within that, of
// itself. They begin at 0 and have no holes.
type CoreID struct{ Socket, Core uint32 }

// Values of Binding.Instance: the job binds itself, by SGE_BINDING in its environment or
// by the host file of its parallel environment; or Grid Engine binds it.
const (
	BindEnv = "env"
	BindPE  = "pe"
	BindSet = "set"
)

// How the cores are chosen.
const (
	BindLinear   = "linear"
	BindStriding = "striding"
	BindExplicit = "explicit"
	BindPacked   = "pack"
)

// What the amount of BindPacked is for.
const (
	BindSlot = "slot"
	BindHost = "host"
)

// BindUnits are the units of BindPacked, -bunit of qsub(1): threads, cores, the cores of a socket, of an
// L3 or L2 cache, of a NUMA node; with E, of efficiency cores.
var BindUnits = Names{"T", "CT", "ET", "C", "E", "S", "CS", "ES", "X", "CX", "EX", "Y", "CY", "EY", "N", "CN", "EN"}

// TopologyLetters are those of a topology string: NUMA nodes, sockets, L3 and L2 caches, cores, efficiency cores and
// threads.
const TopologyLetters = "NSXYCETnsxycet"

// mostUnits bounds the amount of BindPacked.
const mostUnits = 1 << 20

// Decided reports whether the scheduler decides about a binding; nil is none.
func (b *Binding) Decided() bool { return b != nil && b.Strategy == BindPacked }

// Messages for a binding, as typed and as a verifier made it.
const (
	noStrategy = "couldn't parse binding parameter (no strategy found)"
	noPair     = "No <socket,core> pair given!"
	repeated   = "<socket,core> pairs are not unique!"
)

// BindSlots is the amount of "linear" and "linear:slots".
const BindSlots = 1<<31 - 1

// ParseBinding reads linear[:number[:socket,core]], striding:number:n[:socket,core] or
// explicit:socket,core[:socket,core]... As in Grid Engine the first word contains the name of the strategy, so that
// linear_per_task:2 is linear:2. It returns Grid Engine's message when the text is wrong, else "".
func ParseBinding(instance, text string) (b *Binding, wrong string) {
	word, rest, more := strings.Cut(text, ":")
	b = &Binding{Instance: instance}
	var fields []string
	if rest = strings.TrimSuffix(rest, ":"); more && rest != "" {
		fields = strings.Split(rest, ":")
	}
	for _, s := range []string{BindLinear, BindStriding, BindExplicit} {
		if b.Strategy == "" && strings.Contains(text, s) {
			b.Strategy = s
		}
	}
	switch b.Strategy {
	case BindLinear:
		b.Amount = BindSlots
		if len(fields) > 0 && fields[0] != "slots" && !readNumber(fields[0], &b.Amount) {
			return nil, fmt.Sprintf("couldn't parse amount (%s)", b.Strategy)
		}
		return b, b.begin(fields, 1)
	case BindStriding:
		if len(fields) < 2 || !readNumber(fields[0], &b.Amount) || !readNumber(fields[1], &b.Step) {
			return nil, fmt.Sprintf("couldn't parse amount (%s)", b.Strategy)
		}
		return b, b.begin(fields, 2)
	case BindExplicit:
		if !more || !strings.HasSuffix(word, BindExplicit) {
			return nil, "'explicit:' not found in string!"
		}
		return b, b.list(fields)
	}
	return nil, noStrategy
}

// begin reads where to begin, when that stands after the first n fields.
func (b *Binding) begin(fields []string, n int) (wrong string) {
	if len(fields) <= n {
		return ""
	}
	var c CoreID
	socket, core, _ := strings.Cut(fields[n], ",")
	switch {
	case !readNumber(socket, &c.Socket):
		return fmt.Sprintf("couldn't parse socket number (%s)", b.Strategy)
	case !readNumber(core, &c.Core) || len(fields) > n+1:
		return fmt.Sprintf("couldn't parse core number (%s)", b.Strategy)
	}
	b.Cores = []CoreID{c}
	return ""
}

// list reads the pairs of an explicit binding.
func (b *Binding) list(pairs []string) (wrong string) {
	if len(pairs) == 0 {
		return noPair
	}
	for i, pair := range pairs {
		var c CoreID
		socket, core, two := strings.Cut(pair, ",")
		switch first := i == 0; {
		case !readNumber(socket, &c.Socket) && first:
			return "First socket is not a number!"
		case !readNumber(socket, &c.Socket):
			return "Socket is not a number!"
		case !two && first:
			return "Missing first core number!"
		case !two:
			return "No core for a given socket!"
		case !readNumber(core, &c.Core) && first:
			return "First core is not a number!"
		case !readNumber(core, &c.Core):
			return "Core is not a number!"
		}
		b.Cores = append(b.Cores, c)
	}
	if b.repeats() {
		return repeated
	}
	return ""
}

func (b *Binding) repeats() bool {
	for i, c := range b.Cores {
		if slices.Contains(b.Cores[:i], c) {
			return true
		}
	}
	return false
}

// readNumber reads digits alone. No machine has a core of a larger number.
func readNumber(text string, n *uint32) bool {
	v, err := strconv.ParseUint(text, 10, 31)
	*n = uint32(v)
	return err == nil
}

// Validate returns what is wrong with a binding, in Grid Engine's words; "" is
// nothing.
func (b *Binding) Validate() string {
	wrong := func(what string) string { return "binding parameter not consistent with strategy (" + what + ")" }
	known := b.Instance == BindEnv || b.Instance == BindPE || b.Instance == BindSet
	switch {
	case !known:
		return fmt.Sprintf("binding_type %q is none of env, pe, set", b.Instance)
	case b.Step > 0 && b.Strategy != BindStriding:
		return wrong("BN_parameter_striding_step_size is > 0")
	case b.Strategy != BindExplicit && len(b.Cores) > 1:
		return wrong("BN_parameter_explicit")
	}
	switch b.Strategy {
	case BindPacked:
		return b.badUnits()
	case BindLinear:
		if b.Amount == 0 {
			return wrong("BN_parameter is n")
		}
	case BindStriding:
		if b.Amount == 0 {
			return wrong("BN_parameter_n is 0")
		}
		if b.Step == 0 {
			return wrong("BN_parameter_striding_step_size is 0")
		}
	case BindExplicit:
		switch {
		case b.Amount > 0:
			return wrong("BN_parameter_n is > 0")
		case len(b.Cores) == 0:
			return noPair
		case b.repeats():
			return repeated
		}
	default:
		return noStrategy
	}
	return ""
}

// badUnits returns what is wrong with a binding of BindPacked.
func (b *Binding) badUnits() string {
	switch {
	case b.Amount == 0:
		return "a binding by units needs an amount (-bamount)"
	case b.Amount > mostUnits:
		return fmt.Sprintf("bamount %d is more than %d", b.Amount, mostUnits)
	case !BindUnits.Has(b.Unit):
		return fmt.Sprintf("bunit %q is none of %s", b.Unit, strings.Join(BindUnits, ", "))
	case b.Type != BindSlot && b.Type != BindHost:
		return fmt.Sprintf("btype %q is none of slot, host", b.Type)
	case strings.Trim(b.Filter, TopologyLetters) != "":
		return fmt.Sprintf("bfilter %q is not a topology string", b.Filter)
	case len(b.Cores) > 0:
		return "a binding by units has no single cores"
	}
	return ""
}

// Request is the binding without its instance, as ParseBinding reads it:
// linear:2, striding:2:4:0,1, explicit:0,0:1,0.
func (b *Binding) Request() string {
	words := []string{b.Strategy}
	add := func(n uint32) { words = append(words, strconv.FormatUint(uint64(n), 10)) }
	switch {
	case b.Strategy == BindExplicit:
	case b.Amount == BindSlots:
		words = append(words, "slots")
	default:
		add(b.Amount)
	}
	if b.Strategy == BindStriding {
		add(b.Step)
	}
	for _, c := range b.Cores {
		words = append(words, c.String())
	}
	return strings.Join(words, ":")
}

// String prints a binding as qstat -j does: set linear:2, or for BindPacked
// bamount=2,binstance=set,bstrategy=pack,btype=slot,bunit=C. None is NONE.
func (b *Binding) String() string {
	if b == nil {
		return "NONE"
	}
	if b.Decided() {
		filter := ""
		if b.Filter != "" {
			filter = "bfilter=" + b.Filter + ","
		}
		return fmt.Sprintf("bamount=%d,%sbinstance=%s,bstrategy=%s,btype=%s,bunit=%s", b.Amount, filter, b.Instance,
			b.Strategy, b.Type, b.Unit)
	}
	return b.Instance + " " + b.Request()
}

// Options prints a binding as the options of qsub that ask for it.
func (b *Binding) Options() string {
	if !b.Decided() {
		return "-binding " + b.String()
	}
	text := fmt.Sprintf("-bamount %d -bunit %s", b.Amount, b.Unit)
	if b.Type != BindSlot {
		text += " -btype " + b.Type
	}
	if b.Filter != "" {
		text += " -bfilter " + b.Filter
	}
	if b.Instance != BindSet {
		text += " -binstance " + b.Instance
	}
	return text
}

// String prints socket,core.
func (c CoreID) String() string { return fmt.Sprintf("%d,%d", c.Socket, c.Core) }
