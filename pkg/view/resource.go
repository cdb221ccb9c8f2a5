package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/sched"
)

// Resource is what there is of an attribute of the complex at a queue instance or
// host: a row of -F.
type Resource struct {
	Name string
	Type grid.CentryType
	// Dominance says in two letters which level decides (g global, h host, q queue)
	// and where the value is from (l load, c consumable, f configured); "" where no
	// value is known.
	Dominance string
	// Number is the value of numeric types, in bytes, seconds or units: of a
	// consumable what is left of it. grid.Infinity or more is unlimited.
	Number float64
	Text   string // the value of the other types
	// Instances are those of a resource map that are left.
	Instances []string
}

func resourceOf(r sched.Resource) Resource {
	out := Resource{Number: r.Number, Text: r.Text, Instances: r.Instances}
	if r.Attribute != nil {
		out.Name, out.Type = r.Attribute.Name, r.Attribute.Type
	}
	if r.Level != 0 {
		out.Dominance = string([]byte{r.Level, r.Source})
	}
	return out
}

// Value prints the value as Grid Engine's messages do: memory with a multiplier,
// times as h:m:s, other numbers with six digits; of a resource map 2(GPU0 GPU1).
func (r Resource) Value() string {
	switch {
	case !r.Type.Numeric():
		return r.Text
	case r.Number >= grid.Infinity:
		return "infinity"
	case r.Type == grid.TypeMap && len(r.Instances) > 0:
		return strconv.Itoa(len(r.Instances)) + "(" + strings.Join(r.Instances, " ") + ")"
	case r.Type == grid.TypeMap:
		return strconv.FormatFloat(r.Number, 'f', -1, 64)
	case r.Type == "MEMORY":
		return Memory(r.Number, 3)
	case r.Type == "TIME":
		return grid.FormatTimeSpan(r.Number)
	}
	return strconv.FormatFloat(r.Number, 'f', 6, 64)
}

// ShortValue is Value with counts as integers, as qstat prints it.
func (r Resource) ShortValue() string {
	if r.Type == "INT" {
		return strconv.FormatInt(int64(r.Number), 10)
	}
	return r.Value()
}

// Memory prints bytes with K, M, G or T after the number: 6.000G.
func Memory(bytes float64, digits int) string {
	unit := ""
	for _, u := range []string{"K", "M", "G", "T"} {
		if bytes < 1024 {
			break
		}
		bytes, unit = bytes/1024, u
	}
	return strconv.FormatFloat(bytes, 'f', digits, 64) + unit
}

// selectResources makes rows of the resources of some attributes, by name or
// shortcut; of all without names.
func (v *View) selectResources(list []sched.Resource, names grid.Names) []Resource {
	wanted := make([]*grid.Centry, 0, len(names))
	for _, n := range names {
		wanted = append(wanted, v.Attribute(n))
	}
	var out []Resource
	for _, r := range list {
		if len(names) == 0 || slices.Contains(wanted, r.Attribute) {
			out = append(out, resourceOf(r))
		}
	}
	return out
}
