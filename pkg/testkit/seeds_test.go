package testkit

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestEachSeed calls a law with the seeds that the flags name.
func TestEachSeed(t *testing.T) {
	defer func(f int64, n uint64) { *first, *seeds = f, n }(*first, *seeds)
	for _, c := range []struct {
		seed  int64
		seeds uint64
		want  []uint64
	}{
		{-1, 0, []uint64{0, 1, 2}},
		{-1, 2, []uint64{0, 1}},
		{7, 0, []uint64{7}},
		{0, 0, []uint64{0}},
		{7, 2, []uint64{7, 8}},
	} {
		*first, *seeds = c.seed, c.seeds
		var got []uint64
		n := EachSeed(t, 3, func(_ *testing.T, seed uint64) { got = append(got, seed) })
		if !slices.Equal(got, c.want) || n != uint64(len(got)) {
			t.Errorf("-seed %d -seeds %d: %d cases %d, not %d", c.seed, c.seeds, n, got, c.want)
		}
	}
}

// TestRepeat runs a law that seed 2 breaks in a process of its own, and the command that it prints: the case fails
// alone.
func TestRepeat(t *testing.T) {
	if os.Getenv("LAW_BROKEN") != "" {
		t.Run("of two", func(t *testing.T) {
			EachSeed(t, 4, func(t *testing.T, seed uint64) {
				if seed == 2 {
					t.Error("broken")
				}
			})
		})
		return
	}
	run := func(args ...string) string {
		cmd := exec.Command(os.Args[0], append(args, "-test.v")...)
		cmd.Env = append(os.Environ(), "LAW_BROKEN=yes")
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Fatalf("%q passes:\n%s", args, out)
		}
		return string(out)
	}
	out := run("-test.run", "^TestRepeat$")
	const command = "repeat with: go test github.com/quill-grid/quill/pkg/testkit -run '^TestRepeat$/^of_two$' -seed 2\n"
	if strings.Count(out, "=== RUN ") != 6 || strings.Count(out, "repeat with") != 1 || !strings.Contains(out, command) {
		t.Errorf("four cases, of which one is broken:\n%s", out)
	}
	if out := run("-test.run", "^TestRepeat$/^of_two$", "-seed", "2"); strings.Count(out, "=== RUN ") != 3 ||
		!strings.Contains(out, command) {
		t.Errorf("one case:\n%s", out)
	}
}
