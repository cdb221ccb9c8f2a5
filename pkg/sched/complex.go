package sched

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// Complex is the cluster's resource attributes, complex(5), ready to be looked
// up and compared. It is never changed once made.
type Complex struct {
	attrs []attr
	names map[string]int // full names and shortcuts
	// consumables are the indices of attributes that are booked; an
	// attribute's place in this list is its place in every utilization.
	// The first is always slots.
	consumables []int
	exclusives  []int // those that are booked whole, by place
}

// attr is one attribute.
type attr struct {
	*grid.Centry
	numeric   bool
	fold      bool // text compared without case
	perJob    bool // consumable JOB: booked once, at the master task
	exclusive bool // relop EXCL: who asks for it wants to be alone
	booked    int  // place among the consumables, -1 for others
	byDefault float64
	forced    bool
}

// NewComplex compiles the attributes. Slots is added when it is missing:
// nothing runs without it.
func NewComplex(centries []*grid.Centry) *Complex {
	x := &Complex{names: map[string]int{}}
	slots := &grid.Centry{Name: "slots", Shortcut: "s", Type: "INT", Relop: "<=", Requestable: "YES", Consumable: "YES", Default: "1", Urgency: "1000"}
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
	return x
}

func (x *Complex) add(c *grid.Centry) {
	a := attr{Centry: c, numeric: c.Type.Numeric(), booked: -1}
	a.fold = c.Type == "CSTRING" || c.Type == "HOST"
	a.forced = c.Requestable == "FORCED"
	a.exclusive = c.Relop == "EXCL"
	if c.Consumable == "YES" || c.Consumable == "JOB" || c.Name == "slots" {
		a.perJob = c.Consumable == "JOB" && c.Name != "slots"
		a.booked = len(x.consumables)
		a.byDefault, _ = c.Type.Parse(c.Default)
		if a.exclusive {
			x.exclusives = append(x.exclusives, a.booked)
		}
		x.consumables = append(x.consumables, len(x.attrs))
	}
	x.names[c.Name] = len(x.attrs)
	if c.Shortcut != "" {
		if _, taken := x.names[c.Shortcut]; !taken {
			x.names[c.Shortcut] = len(x.attrs)
		}
	}
	x.attrs = append(x.attrs, a)
}

// find returns an attribute's index by name or shortcut, -1 when unknown.
func (x *Complex) find(name string) int {
	if i, ok := x.names[name]; ok {
		return i
	}
	return -1
}

// Lookup returns an attribute by name or shortcut, nil when there is none.
func (x *Complex) Lookup(name string) *grid.Centry {
	if i := x.find(name); i >= 0 {
		return x.attrs[i].Centry
	}
	return nil
}

// Normalise turns -l requests as given into their stored form: full names,
// numbers, one per attribute (the last given stays). TRUE, for which a name
// alone stands, is 1 for an attribute of any numeric type and FALSE is 0. Those
// that are stored so already are returned as they are. The error is what qsub
// prints after "Unable to run job: ".
func (x *Complex) Normalise(requests grid.Requests) (grid.Requests, error) {
	normal := true
	for i, r := range requests {
		n, err := x.normal(r)
		if err != nil {
			return nil, err
		}
		normal = normal && n == r && index(requests[:i], n.Name) < 0
	}
	if normal {
		return requests, nil
	}
	out := make(grid.Requests, 0, len(requests))
	for _, r := range requests {
		n, _ := x.normal(r)
		if i := index(out, n.Name); i >= 0 {
			out[i] = n
		} else {
			out = append(out, n)
		}
	}
	return out, nil
}

// NormaliseSoft is Normalise for the requests behind -soft, among which there
// may be no consumable: what is booked is either there or not.
func (x *Complex) NormaliseSoft(requests grid.Requests) (grid.Requests, error) {
	out, err := x.Normalise(requests)
	if err != nil {
		return nil, err
	}
	for _, r := range out {
		if a := &x.attrs[x.find(r.Name)]; a.booked >= 0 {
			return nil, fmt.Errorf("denied: soft requests on consumables like %q are not supported", a.Name)
		}
	}
	return out, nil
}

// normal is one request as it is stored.
func (x *Complex) normal(r grid.Request) (n grid.Request, err error) {
	i := x.find(r.Name)
	if i < 0 {
		return n, fmt.Errorf("unknown resource %q", r.Name)
	}
	a := &x.attrs[i]
	switch {
	case a.Name == "slots":
		return n, fmt.Errorf(`"job" denied: use parallel environments instead of requesting slots explicitly`)
	case a.Requestable == "NO":
		return n, fmt.Errorf("resource %q configured as non requestable", a.Name)
	}
	n = grid.Request{Name: a.Name, Value: r.Value}
	if n.Value == "" {
		return n, fmt.Errorf("denied: missing value for resource %q", a.Name)
	}
	if !a.numeric {
		return n, nil
	}
	v, ok := a.Type.Parse(n.Value)
	switch {
	case ok:
	case strings.EqualFold(n.Value, "TRUE"):
		v = 1
	case strings.EqualFold(n.Value, "FALSE"):
		v = 0
	default:
		return n, fmt.Errorf("attribute %q is not a %s value", a.Name, a.Type.Word())
	}
	if v < 0 && a.booked >= 0 {
		return n, fmt.Errorf("attribute %q is consumable but has a negative value", a.Name)
	}
	n.Num = v
	return n, nil
}

func index(requests grid.Requests, name string) int {
	for i := range requests {
		if requests[i].Name == name {
			return i
		}
	}
	return -1
}

// compare says whether `request relop offer` holds for numbers, complex(5).
func (a *attr) compare(request, offer float64) bool {
	switch a.Relop {
	case ">=":
		return request >= offer
	case ">":
		return request > offer
	case "<=":
		return request <= offer
	case "<":
		return request < offer
	case "!=":
		return request != offer
	}
	return request == offer
}

// matches is compare for texts: the request may be an expression.
func (a *attr) matches(request pattern.Expression, offer string) bool {
	m := request.Match(offer)
	if a.Relop == "!=" {
		return !m
	}
	return m
}

// moreIsLess says whether a larger value satisfies fewer requests (load).
func (a *attr) moreIsLess() bool { return a.Relop == ">=" || a.Relop == ">" }

func (a *attr) ordered() bool { return a.Relop != "==" && a.Relop != "!=" && !a.exclusive }

// print writes a number as Grid Engine's messages do.
func (a *attr) print(v float64) string {
	switch {
	case a.Type == "MEMORY":
		return printMemory(v)
	case a.Type == "TIME":
		return grid.FormatTimeSpan(v)
	case v >= grid.Infinity:
		return "infinity"
	}
	return strconv.FormatFloat(v, 'f', 6, 64)
}

// printMemory is 6.000G for the largest power of 1024 that leaves a one
// before the point.
func printMemory(v float64) string {
	switch {
	case v >= grid.Infinity:
		return "infinity"
	case v >= 1<<40:
		return fmt.Sprintf("%.3fT", v/(1<<40))
	case v >= 1<<30:
		return fmt.Sprintf("%.3fG", v/(1<<30))
	case v >= 1<<20:
		return fmt.Sprintf("%.3fM", v/(1<<20))
	case v >= 1<<10:
		return fmt.Sprintf("%.3fK", v/(1<<10))
	}
	return fmt.Sprintf("%.3f", v)
}

// requestText prints requests as messages quote them: -l a=1,b=2 by name.
func requestText(requests grid.Requests) string {
	if len(requests) == 0 {
		return "NONE"
	}
	parts := make([]string, len(requests))
	for i, r := range requests {
		parts[i] = r.Name + "=" + r.Value
	}
	sortStrings(parts)
	return strings.Join(parts, ",")
}
