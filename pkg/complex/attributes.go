package complex

import (
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// Attributes is the cluster's complex, complex(5): its resource attributes,
// ready to be looked up and compared. It is never changed once made.
type Attributes struct {
	List []Attribute
	// Consumables are the indices in List of the attributes that are booked. The
	// position of an attribute in Consumables is its column in every row of a
	// utilization. The first is always slots.
	Consumables []int
	Exclusives  []int // columns of the consumables with relop EXCL
	// Threads is the column of the threads of processor cores that jobs are bound to. It is the last one,
	// of an attribute that is in no configuration and that no job asks for by name.
	Threads int

	names map[string]int // full names and shortcuts
}

// Attribute is one attribute with what follows from its definition.
type Attribute struct {
	*grid.Centry
	Numeric   bool
	foldCase  bool // text compared without case
	PerJob    bool // consumable JOB: booked once, at the master task
	PerHost   bool // consumable HOST: booked once on each host
	Exclusive bool // relop EXCL: a job that requests it shares with no other job
	Column    int  // position among the consumables; -1: not booked
	fallback  float64
	forced    bool
}

// New compiles the attributes. It adds slots when it is missing, because nothing
// runs without it.
func New(centries []*grid.Centry) *Attributes {
	x := &Attributes{names: map[string]int{}}
	slots := &grid.Centry{Name: "slots", Shortcut: "s", Type: "INT", Relop: "<=", Requestable: "YES", Consumable: "YES",
		Default: "1", Urgency: "1000"}
	for _, c := range centries {
		if c.Name == "slots" {
			slots = c
		}
	}
	x.add(slots)
	for _, c := range centries {
		if c != slots {
			x.add(c)
		}
	}
	x.Threads = len(x.Consumables)
	x.Consumables = append(x.Consumables, len(x.List))
	x.List = append(x.List, Attribute{Centry: threads, Numeric: true, Column: x.Threads})
	return x
}

// threads is the attribute of the column Threads.
var threads = &grid.Centry{Name: "binding", Type: "INT", Relop: "<=", Requestable: "NO", Consumable: "YES",
	Default: "0", Urgency: "0"}

func (x *Attributes) add(c *grid.Centry) {
	a := Attribute{Centry: c, Numeric: c.Type.Numeric(), Column: -1}
	a.foldCase = c.Type == "CSTRING" || c.Type == "HOST"
	a.forced = c.Requestable == "FORCED"
	a.Exclusive = c.Relop == "EXCL"
	if c.Consumable == "YES" || c.Consumable == "JOB" || c.Consumable == "HOST" || c.Name == "slots" {
		a.PerJob = c.Consumable == "JOB" && c.Name != "slots"
		a.PerHost = c.Consumable == "HOST" && c.Name != "slots" && !a.Exclusive
		a.Column = len(x.Consumables)
		a.fallback, _ = c.Type.Parse(c.Default)
		if a.Exclusive {
			x.Exclusives = append(x.Exclusives, a.Column)
		}
		x.Consumables = append(x.Consumables, len(x.List))
	}
	x.names[c.Name] = len(x.List)
	if c.Shortcut != "" {
		if _, taken := x.names[c.Shortcut]; !taken {
			x.names[c.Shortcut] = len(x.List)
		}
	}
	x.List = append(x.List, a)
}

// Find returns an attribute's index in List by name or shortcut, -1 when it is
// unknown.
func (x *Attributes) Find(name string) int {
	if i, ok := x.names[name]; ok {
		return i
	}
	return -1
}

// Lookup returns an attribute by name or shortcut, nil when there is none.
func (x *Attributes) Lookup(name string) *grid.Centry {
	if i := x.Find(name); i >= 0 {
		return x.List[i].Centry
	}
	return nil
}

// Compare reports whether `left relop right` holds for numbers: a request and what
// is offered, complex(5), or a value and its threshold, queue_conf(5).
func (a *Attribute) Compare(left, right float64) bool { return compare(a.Relop, left, right) }

func compare(relop grid.Relop, left, right float64) bool {
	switch relop {
	case ">=":
		return left >= right
	case ">":
		return left > right
	case "<=":
		return left <= right
	case "<":
		return left < right
	case "!=":
		return left != right
	}
	return left == right
}

// Matches is Compare for texts: the request may be an expression.
func (a *Attribute) Matches(request pattern.Expression, offer string) bool {
	m := request.Match(offer)
	if a.Relop == "!=" {
		return !m
	}
	return m
}

// IsLoad reports whether a larger value satisfies fewer requests, as that of a load
// average does.
func (a *Attribute) IsLoad() bool { return a.Relop == ">=" || a.Relop == ">" }

// Ordered reports whether a request is for an amount, not for one exact value.
func (a *Attribute) Ordered() bool { return a.Relop != "==" && a.Relop != "!=" && !a.Exclusive }

// LimitsRunTime reports whether h_rt is a limit, as it is by default: a job that
// requests more of it fits into fewer queues.
func (x *Attributes) LimitsRunTime() bool {
	i := x.Find("h_rt")
	return i >= 0 && x.List[i].Numeric && x.List[i].Column < 0 && x.List[i].Relop == "<="
}

// Urgency returns an attribute's urgency, 0 when it is not a number.
func (x *Attributes) Urgency(attr int) float64 {
	u, err := strconv.ParseFloat(x.List[attr].Urgency, 64)
	if err != nil {
		return 0
	}
	return u
}
