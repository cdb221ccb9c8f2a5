package report

import "testing"

func TestBadAddress(t *testing.T) {
	for _, to := range []string{"alice", "alice@h1.example.com", "a.b-c+d_e=f%g@x", "0user", `DOM\user`} {
		if wrong := BadAddress(to); wrong != "" {
			t.Error(wrong)
		}
	}
	for _, to := range []string{"", "-x", "-oQ/tmp", "--", "|cat", "/etc/passwd", "+file", "a b", "a\nb", "a;b", "a`b`",
		"$HOME", "a|b", "@", "~x", "a\x00", "\xff"} {
		if BadAddress(to) == "" {
			t.Errorf("%q may be mailed to", to)
		}
	}
}
