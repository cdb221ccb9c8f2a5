package complex

import "github.com/quill-grid/quill/pkg/grid"

// Threshold is one element of load_thresholds or suspend_thresholds.
type Threshold struct {
	Attr  int // -1: unknown attribute, which is always in alarm
	Name  string
	Limit float64
	Text  string
}

// Thresholds compiles the elements of a list of thresholds.
func (x *Attributes) Thresholds(values grid.Values) []Threshold {
	var out []Threshold
	for _, v := range values {
		t := Threshold{Attr: x.Find(v.Name), Name: v.Name, Text: v.Text}
		if t.Attr >= 0 {
			a := &x.List[t.Attr]
			t.Name = a.Name
			if n, ok := a.Type.Parse(v.Text); ok {
				t.Limit = n
			} else {
				t.Attr = -1
			}
		}
		out = append(out, t)
	}
	return out
}
