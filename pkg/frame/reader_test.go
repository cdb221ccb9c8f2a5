package frame

import "testing"

// TestFileReader: a stream that was begun anew after the last list of what
// files hold continues without damage; one that skips lists does not.
func TestFileReader(t *testing.T) {
	old := Frame{Epoch: NewEpoch(0, 1), First: 1, Last: 3, Count: 3, Prev: 11}
	for lost, last := range []uint64{3, 4} {
		c := NewFileReader(func(Frame) error { return nil })
		if err := c.Take(12, Append(nil, &old)); err != nil {
			t.Fatal(err)
		}
		over := Frame{Flags: TakeOver | Jump, Epoch: NewEpoch(old.Epoch, 1), First: last + 1, Last: last}
		if err := c.Take(1, Append(nil, &over)); (err != nil) != (lost > 0) {
			t.Errorf("%d lists lost: %v", lost, err)
		}
		if want := last; lost == 0 && (c.End().Seq != want || c.End().Stream != 1) {
			t.Errorf("end is %v", c.End())
		}
	}
}
