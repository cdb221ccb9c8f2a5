package sched

import "testing"

// Each message is recognised as what it is, whatever stands in it.
func TestSummaries(t *testing.T) {
	for i, c := range codes {
		if c.summary == "" {
			continue
		}
		r := Reason{Code: Code(i), Object: "all.q@h1", What: "h_rt=10", Offer: `it is not of parallel type "x"`, Slots: 17}
		if got := Summary(r.String()); got != c.summary {
			t.Errorf("%s\n\tis summarized as %s", r, got)
		}
	}
	if own := "class 2 has its share already"; Summary(own) != own {
		t.Error(Summary(own))
	}
}
