package grid

// Section is the part of the scheduler configuration that belongs to one
// algorithm: its parameters, in its order. In text each is a line
// `algorithm.name value`, with what it means in a comment before.
type Section struct {
	Algorithm string `see:"keep"`
	Params    []Param
}

// Param is one parameter of an algorithm, or one row of it if it is a table.
// Help is its meaning and unit; Help and Table are filled in by the algorithm.
type Param struct {
	Name, Text string `see:"text"`
	Help       string `see:"keep"`
	Table      bool
}

// Section returns the parameters of an algorithm, nil when none are stored.
func (c *SchedConf) Section(algorithm string) []Param {
	for i := range c.Sections {
		if c.Sections[i].Algorithm == algorithm {
			return c.Sections[i].Params
		}
	}
	return nil
}

// WithSection returns the sections with one of them replaced or added.
func (c *SchedConf) WithSection(s Section) (out []Section) {
	found := false
	for _, old := range c.Sections {
		if old.Algorithm == s.Algorithm {
			old, found = s, true
		}
		out = append(out, old)
	}
	if !found {
		out = append(out, s)
	}
	return out
}

// AlgorithmState stores what an algorithm needs later and cannot compute again: a
// priority that moved, a share at the submission of a job. It is part of orders, stored
// by qmaster and sent like every other object.
type AlgorithmState struct {
	Algorithm string `see:"keep"`
	Name      string `see:"text"` // what it is of, in the algorithm's own words: queue/high, job/7
	Values    Values `see:"text"`
}

func (*AlgorithmState) Kind() Kind { return KindAlgorithmState }
func (s *AlgorithmState) Key() Key { return Key{Name: s.Algorithm + "/" + s.Name} }
