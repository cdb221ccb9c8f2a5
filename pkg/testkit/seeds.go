package testkit

import (
	"cmp"
	"flag"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
)

var (
	seeds = flag.Uint64("seeds", 0, "cases of each law, `N`; 0: as many as are quick")
	first = flag.Int64("seed", -1, "the first case of each law, `N`; without -seeds the only one")
)

// EachSeed calls check with the seeds 0 to quick-1, or with those that the flags name, each in a subtest. It returns
// how many there were.
func EachSeed(t *testing.T, quick uint64, check func(t *testing.T, seed uint64)) (cases uint64) {
	t.Helper()
	from := FirstSeed(0)
	n := cmp.Or(*seeds, quick)
	if *first >= 0 {
		n = max(*seeds, 1)
	}
	for seed := from; seed < from+n; seed++ {
		OneSeed(t, seed, check)
	}
	return n
}

// OneSeed calls check with a seed in a subtest, whatever the flags: a case that once broke the law.
func OneSeed(t *testing.T, seed uint64, check func(t *testing.T, seed uint64)) {
	t.Helper()
	t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("repeat with: %s", command(t.Name(), seed))
			}
		})
		check(t, seed)
	})
}

// FirstSeed returns the seed that -seed names, else usual: for a law that needs only one.
func FirstSeed(usual uint64) uint64 {
	if *first >= 0 {
		return uint64(*first)
	}
	return usual
}

// command runs a case, a subtest named by its seed, alone.
func command(name string, seed uint64) string {
	law := name[:strings.LastIndex(name, "/")]
	info, _ := debug.ReadBuildInfo() // of the test of a package: PATH/OF/PACKAGE.test
	return fmt.Sprintf("go test %s -run '^%s$' -seed %d", strings.TrimSuffix(info.Path, ".test"),
		strings.ReplaceAll(law, "/", "$/^"), seed)
}
