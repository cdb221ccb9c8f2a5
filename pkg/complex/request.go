package complex

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Normalise turns -l requests as given into their stored form: full names,
// numbers, one per attribute (the last given stays). TRUE, for which a name
// alone stands, is 1 for an attribute of any numeric type and FALSE is 0.
// Requests in their stored form are returned as they are. The error is what qsub
// prints after "Unable to run job: ".
func (x *Attributes) Normalise(requests grid.Requests) (grid.Requests, error) {
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

// NormaliseSoft is Normalise for the requests after -soft. It fails for a
// consumable: what is booked is either there or not.
func (x *Attributes) NormaliseSoft(requests grid.Requests) (grid.Requests, error) {
	out, err := x.Normalise(requests)
	if err != nil {
		return nil, err
	}
	for _, r := range out {
		if a := &x.List[x.Find(r.Name)]; a.Column >= 0 {
			return nil, fmt.Errorf("denied: soft requests on consumables like %q are not supported", a.Name)
		}
	}
	return out, nil
}

// normal returns one request in its stored form.
func (x *Attributes) normal(r grid.Request) (n grid.Request, err error) {
	i := x.Find(r.Name)
	if i < 0 {
		return n, fmt.Errorf("unknown resource %q", r.Name)
	}
	a := &x.List[i]
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
	if !a.Numeric {
		return n, nil
	}
	block := ""
	if at := strings.IndexByte(n.Value, '['); at >= 0 && a.Type == grid.TypeMap {
		s, err := x.Selection(a.Name, n.Value[at:])
		if err != nil {
			return n, err
		}
		if n.Value, block = strings.TrimSpace(n.Value[:at]), "["+s.String()+"]"; n.Value == "" {
			return n, fmt.Errorf("denied: missing value for resource %q", a.Name)
		}
	}
	v, ok := a.Type.Parse(n.Value)
	if !ok {
		return n, fmt.Errorf("attribute %q is not a %s value", a.Name, a.Type.Word())
	}
	if v < 0 && a.Column >= 0 {
		return n, fmt.Errorf("attribute %q is consumable but has a negative value", a.Name)
	}
	n.Num, n.Value = v, n.Value+block
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

// RequestText prints requests as messages quote them: -l a=1,b=2 by name.
func RequestText(requests grid.Requests) string {
	if len(requests) == 0 {
		return "NONE"
	}
	parts := make([]string, len(requests))
	for i, r := range requests {
		parts[i] = r.Name + "=" + r.Value
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// AppendNumbers adds requests in the order of their names, with the numbers of
// values that have one.
func (x *Attributes) AppendNumbers(b []byte, sep string, requests grid.Requests) []byte {
	return appendSorted(b, sep, requests, func(b []byte, r *grid.Request) []byte {
		if a := x.Find(r.Name); a >= 0 && x.List[a].Numeric {
			b = strconv.AppendFloat(b, r.Num, 'f', -1, 64)
			if at := strings.IndexByte(r.Value, '['); at >= 0 {
				b = append(b, r.Value[at:]...)
			}
			return b
		}
		return append(b, r.Value...)
	})
}

// AppendTexts adds requests in the order of their names, with their values as
// given, times in seconds.
func (x *Attributes) AppendTexts(b []byte, sep string, requests grid.Requests) []byte {
	return appendSorted(b, sep, requests, func(b []byte, r *grid.Request) []byte {
		if a := x.Find(r.Name); a >= 0 && x.List[a].Type == "TIME" && r.Num < grid.Infinity {
			return strconv.AppendFloat(b, r.Num, 'f', -1, 64)
		}
		return append(b, r.Value...)
	})
}

func appendSorted(b []byte, sep string, requests grid.Requests, value func([]byte, *grid.Request) []byte) []byte {
	last := ""
	for range requests {
		k := -1
		for i := range requests {
			if n := requests[i].Name; n > last && (k < 0 || n < requests[k].Name) {
				k = i
			}
		}
		if k < 0 {
			break
		}
		r := &requests[k]
		last = r.Name
		b = value(append(append(append(b, sep...), r.Name...), '='), r)
		sep = ","
	}
	return b
}
