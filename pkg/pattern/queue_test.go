package pattern

import "testing"

// TestQueue has the examples of sge_types(1) wc_queue.
func TestQueue(t *testing.T) {
	in := func(groups Expression, host string) bool {
		return host == "fangorn" && (groups.Match("@solaris") || groups.Match("@trees"))
	}
	for _, c := range []struct {
		text, queue, host string
		want              bool
	}{
		{"*", "all.q", "fangorn", true},
		{"a*", "all.q", "fangorn", true},
		{"a*", "big.q", "fangorn", false},
		{"a*&!adam", "all.q", "fangorn", true},
		{"a*&!adam", "adam", "fangorn", false},
		{"all.q|big.q", "big.q", "fangorn", true},
		{"*@fangorn", "big.q", "fangorn", true},
		{"*@fangorn", "big.q", "bree", false},
		{"*@b*|c*", "all.q", "bree", true},
		{"*@b*|c*", "all.q", "fangorn", false},
		{"all.q@!bree", "all.q", "fangorn", true},
		{"all.q@!bree", "all.q", "bree", false},
		{"*@@*", "all.q", "fangorn", true},
		{"*@@*", "all.q", "bree", false},
		{"a*@@s*", "all.q", "fangorn", true},
		{"a*@@s*", "big.q", "fangorn", false},
		{"*@@solaris", "all.q", "fangorn", true},
		{"*@@linux|@trees", "all.q", "fangorn", true},
		{"*@@linux", "all.q", "fangorn", false},
		{"@fangorn", "all.q", "fangorn", true},
		{"", "all.q", "fangorn", false},
	} {
		q := CompileQueue(c.text)
		if got := q.Match(c.queue, c.host, in); got != c.want {
			t.Errorf("%q means %s@%s: %v, want %v", c.text, c.queue, c.host, got, c.want)
		}
	}
}
