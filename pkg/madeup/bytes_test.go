package madeup

import (
	"bytes"
	"testing"
)

// TestChanges changes [7, "ab", bytes with [1]]: what is changed is a whole value
// again, and everything else is as it was.
func TestChanges(t *testing.T) {
	b := []byte{0x93, 7, 0xa2, 'a', 'b', 0xc4, 2, 0x91, 1}
	seen := map[string][]byte{}
	Changes(b, func(what string, m []byte) {
		if v, rest := parse(m); v == nil || len(rest) > 0 {
			t.Errorf("%s: % x", what, m)
		}
		seen[what] = m
	})
	for what, want := range map[string][]byte{
		"=nil":                          {0xc0},
		".0=nil":                        {0xdd, 0, 0, 0, 3, 0xc0, 0xa2, 'a', 'b', 0xc6, 0, 0, 0, 6, 0xdd, 0, 0, 0, 1, 1},
		".2.0.0=nil":                    {0xdd, 0, 0, 0, 3, 7, 0xa2, 'a', 'b', 0xc6, 0, 0, 0, 6, 0xdd, 0, 0, 0, 1, 0xc0},
		".2.0 without its last element": {0xdd, 0, 0, 0, 3, 7, 0xa2, 'a', 'b', 0xc6, 0, 0, 0, 5, 0xdd, 0, 0, 0, 0},
	} {
		if !bytes.Equal(seen[what], want) {
			t.Errorf("%s: % x, want % x", what, seen[what], want)
		}
	}
}
