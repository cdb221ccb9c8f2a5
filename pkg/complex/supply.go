package complex

import (
	"math"

	"github.com/quill-grid/quill/pkg/grid"
)

// Supply is what one level (cluster, host, queue instance, quota) configures of
// the attributes.
type Supply struct {
	Capacity []float64     // by column; Unlimited: not limited here
	Fixed    map[int]Value // by attribute; of consumables only a queue's own limits
	Forced   []int         // attributes that must be requested
	Maps     map[int]Map   // by column: the instances of resource maps; nil: there are none

	Devices map[int][]MapDevice // by column: the device files that instances of a map name; nil: there are none
}

// Value is the configured value of an attribute that is compared, not booked.
type Value struct {
	Number  float64
	Text    string
	BuiltIn bool // a queue's built-in value, not complex_values

	// Patterns, one of which a request must match, stand in place of Text, which a request matches.
	Patterns []string
}

// Unlimited is the capacity of a consumable that a level does not limit.
var Unlimited = math.Inf(1)

// Supply compiles complex_values.
func (x *Attributes) Supply(values grid.Values) Supply {
	s := Supply{Capacity: make([]float64, len(x.Consumables)), Fixed: map[int]Value{}}
	for i := range s.Capacity {
		s.Capacity[i] = Unlimited
	}
	for _, v := range values {
		i := x.Find(v.Name)
		if i < 0 {
			continue
		}
		a := &x.List[i]
		if a.forced {
			s.Forced = append(s.Forced, i)
		}
		num, _ := a.Type.Parse(v.Text)
		if m, err := x.mapOf(a, v.Text); err == nil && m != nil {
			if s.Maps == nil {
				s.Maps = map[int]Map{}
			}
			s.Maps[a.Column], num = m, float64(m.Amount())
			if devices := m.devices(); devices != nil {
				if s.Devices == nil {
					s.Devices = map[int][]MapDevice{}
				}
				s.Devices[a.Column] = devices
			}
		}
		if a.Column >= 0 {
			s.Capacity[a.Column] = num
		} else {
			s.Fixed[i] = Value{Number: num, Text: v.Text}
		}
	}
	return s
}

// mapOf returns the instances in the value of an RSMAP attribute, nil when it is a number, as
// the limit of a quota is.
func (x *Attributes) mapOf(a *Attribute, text string) (Map, error) {
	if a.Type != grid.TypeMap {
		return nil, nil
	}
	return x.ParseMap(a.Name, text)
}
