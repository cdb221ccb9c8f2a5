package law

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

// Each calls check with the seeds 0 to quick-1, or with those that the flags name, each in a subtest. It returns how
// many there were.
func Each(t *testing.T, quick uint64, check func(t *testing.T, seed uint64)) (cases uint64) {
	t.Helper()
	from := First(0)
	n := cmp.Or(*seeds, quick)
	if *first >= 0 {
		n = max(*seeds, 1)
	}
	for seed := from; seed < from+n; seed++ {
		One(t, seed, check)
	}
	return n
}

// One calls check with a seed in a subtest, whatever the flags: a case that once broke the law.
func One(t *testing.T, seed uint64, check func(t *testing.T, seed uint64)) {
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

// First returns the seed that -seed names, else usual: for a law that needs only one.
func First(usual uint64) uint64 {
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
