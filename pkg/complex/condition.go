package complex

import (
	"slices"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// Condition is the request of an attribute that is compared, not booked.
type Condition struct {
	Attr   int // index of the attribute
	Number float64
	Expr   pattern.Expression
	Text   string // the request as given
	Of     grid.TaskScope
}

// Conditions compiles the requests of attributes that are not booked; unknown is
// the name of one that does not exist.
func (x *Attributes) Conditions(requests grid.Requests) (out []Condition, unknown string) {
	return x.conditions(nil, requests, grid.AllTasks)
}

// ConditionsOf is Conditions for the hard requests of a job of every scope.
func (x *Attributes) ConditionsOf(r *grid.JobRequest) (out []Condition, unknown string) {
	for _, s := range grid.TaskScopes {
		var other string
		if out, other = x.conditions(out, r.HardOf(s), s); other != "" {
			unknown = other
		}
	}
	return out, unknown
}

func (x *Attributes) conditions(
	out []Condition, requests grid.Requests, of grid.TaskScope,
) (_ []Condition, unknown string) {
	for _, r := range requests {
		i := x.Find(r.Name)
		if i < 0 {
			unknown = r.Name
			continue
		}
		a := &x.List[i]
		if a.Column >= 0 {
			continue
		}
		k := Condition{Attr: i, Number: r.Num, Text: r.Value, Of: of}
		if !a.Numeric {
			k.Expr = pattern.Compile(r.Value, a.foldCase)
		}
		out = append(out, k)
	}
	return out, unknown
}

// Satisfied reports whether a configured value of the attribute meets the request.
func (k *Condition) Satisfied(a *Attribute, v Value) bool {
	switch {
	case a.Numeric:
		return a.Compare(k.Number, v.Number)
	case v.Patterns != nil:
		return slices.ContainsFunc(v.Patterns, func(p string) bool { return pattern.Match(p, k.Text) })
	}
	return a.Matches(k.Expr, v.Text)
}

// SatisfiedBy reports whether a value is enough for a request as users write it:
// "request relop value". A text may be requested with an expression. TRUE, which
// stands for a value that is left out (-l slots), is 1.
func (a *Attribute) SatisfiedBy(request string, v Value) bool {
	if !a.Numeric {
		k := Condition{Expr: pattern.Compile(request, a.foldCase), Text: request}
		return k.Satisfied(a, v)
	}
	if request == "TRUE" {
		request = "1"
	}
	n, ok := a.Type.Parse(request)
	return ok && a.Compare(n, v.Number)
}

// Better reports whether a number satisfies requests that another one does not.
func (a *Attribute) Better(number, other float64) bool {
	switch {
	case !a.Ordered() || number == other:
		return false
	case a.IsLoad():
		return number < other
	}
	return number > other
}
