package bench

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	check = flag.Bool("baseline", false,
		"compare allocations of the main benchmarks with testdata/baseline.txt; make bench-check does that")
	update = flag.Bool("update", false, "with -baseline: write testdata/baseline.txt")
)

const (
	baselineFile = "testdata/baseline.txt"
	// tolerance is by how much a figure may grow: allocations vary a little with the
	// random seeds of maps and the moment of a collection.
	tolerance = 0.05
	// slack is how many bytes or allocations a figure may grow in any case.
	slackBytes, slackAllocs = 512, 8
)

// measured are the benchmarks with a baseline: scheduling runs, the submit path, apply,
// replay. Each runs a fixed number of times, so that its figures do not depend on the
// speed of the machine.
var measured = []struct{ pkg, bench, times string }{
	{"./schedd/algorithm/ticket", "^Benchmark(Idle|Refill|One|Parallel|Blocked|Events|Reserve|Backfill)$", "3x"},
	{"./schedd/algorithm/fbsng", "^BenchmarkRun$", "3x"},
	{"./schedd/algorithm/gridserver", "^BenchmarkRun$", "3x"},
	{"./schedd/algorithm/scoot", "^BenchmarkRun$", "3x"},
	{"./schedd/algorithm/roundrobin", "^BenchmarkRun$", "3x"},
	{"./pkg/state", "^BenchmarkApply$", "20000x"},
	{"./pkg/codec", "^Benchmark(Append|Decode)$", "1000x"},
	{"./pkg/submit", "^BenchmarkQsubWords$", "1000x"},
	{"./qmaster", "^BenchmarkSubmit$/durable=false/clients=1$", "2000x"},
	{"./execd/core", "^Benchmark(Life|Plan)$", "1000x"},
	{"./tools/decide", "^BenchmarkBusyLog$", "3x"},
}

// cost is what one operation of a benchmark allocates.
type cost struct{ bytes, allocs float64 }

// TestBaseline compares what the main benchmarks allocate with the committed baseline.
// Less is no failure; -update writes it down.
func TestBaseline(t *testing.T) {
	if !*check {
		t.Skip("takes minutes and a machine without other work: make bench-check")
	}
	now := map[string]cost{}
	for _, m := range measured {
		// compiled as the tests of the Makefile are, so that it is done already
		cmd := exec.Command("go", "test", "-tags", "urfave_cli_no_docs,netgo,osusergo", "-vet=off", "-ldflags=-w", "-short",
			"-run", "^$", "-bench", m.bench, "-benchtime", m.times, "-benchmem", "-cpu", "1", m.pkg)
		cmd.Dir = filepath.Join("..", "..")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
		found := parseCosts(m.pkg, out)
		if len(found) == 0 {
			t.Fatalf("%s printed no benchmark:\n%s", cmd, out)
		}
		for name, c := range found {
			now[name] = c
		}
	}
	if *update {
		if err := os.WriteFile(baselineFile, formatCosts(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(baselineFile)
	if err != nil {
		t.Fatal(err)
	}
	before := readCosts(t, text)
	t.Logf("\n%s", table(before, now))
	for _, complaint := range compareCosts(before, now) {
		t.Error(complaint)
	}
}

var benchLine = regexp.MustCompile(`(?m)^Benchmark(\S+)\s.*?\s(\d+) B/op\s+(\d+) allocs/op`)

// parseCosts reads what go test -benchmem prints.
func parseCosts(pkg string, out []byte) map[string]cost {
	costs := map[string]cost{}
	for _, m := range benchLine.FindAllSubmatch(out, -1) {
		bytes, _ := strconv.ParseFloat(string(m[2]), 64)
		allocs, _ := strconv.ParseFloat(string(m[3]), 64)
		costs[strings.TrimPrefix(pkg, "./")+"."+string(m[1])] = cost{bytes, allocs}
	}
	return costs
}

func formatCosts(costs map[string]cost) []byte {
	var b bytes.Buffer
	fmt.Fprintln(
		&b, "# What one operation of each benchmark allocates; make bench-check compares. benchmark, bytes, allocations")
	for _, name := range sortedNames(costs) {
		fmt.Fprintf(&b, "%s %.0f %.0f\n", name, costs[name].bytes, costs[name].allocs)
	}
	return b.Bytes()
}

func readCosts(t *testing.T, text []byte) map[string]cost {
	costs := map[string]cost{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var name string
		var c cost
		if _, err := fmt.Sscan(line, &name, &c.bytes, &c.allocs); err != nil {
			t.Fatalf("%s: %q: %v", baselineFile, line, err)
		}
		costs[name] = c
	}
	return costs
}

// compareCosts returns what allocates more than the tolerance allows, and what one side
// lacks.
func compareCosts(before, now map[string]cost) (complaints []string) {
	for _, name := range sortedNames(before) {
		was := before[name]
		is, ok := now[name]
		switch {
		case !ok:
			complaints = append(complaints, name+": in the baseline, but not measured")
		case is.bytes > was.bytes*(1+tolerance)+slackBytes:
			complaints = append(complaints, fmt.Sprintf("%s: %.0f bytes, in the baseline %.0f", name, is.bytes, was.bytes))
		case is.allocs > was.allocs*(1+tolerance)+slackAllocs:
			complaints = append(complaints, fmt.Sprintf("%s: %.0f allocations, in the baseline %.0f", name,
				is.allocs, was.allocs))
		}
	}
	for _, name := range sortedNames(now) {
		if _, ok := before[name]; !ok {
			complaints = append(complaints, name+": measured, but not in the baseline")
		}
	}
	return complaints
}

func table(before, now map[string]cost) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-90s %14s %14s %8s %12s %12s\n", "benchmark", "bytes", "baseline", "change",
		"allocations", "baseline")
	for _, name := range sortedNames(now) {
		was, is := before[name], now[name]
		fmt.Fprintf(&b, "%-90s %14.0f %14.0f %+7.1f%% %12.0f %12.0f\n", name, is.bytes, was.bytes,
			100*(is.bytes/max(was.bytes, 1)-1), is.allocs, was.allocs)
	}
	return b.String()
}

func sortedNames(costs map[string]cost) []string {
	names := make([]string, 0, len(costs))
	for name := range costs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestCompareCosts: more than the tolerance is a complaint, less is none.
func TestCompareCosts(t *testing.T) {
	out :=
		[]byte(
			"goos: linux\nBenchmarkIdle/h=10/p=5 \t 3\t 12.5 ns/op\t 7 starts/s\t 100000 B/op\t 1000 allocs/op\nBenchmarkOne-2 3 1 ns/op 20 B/op 1 allocs/op\nPASS\n")
	is := parseCosts("./x", out)
	if got := string(formatCosts(is)); !strings.HasSuffix(got, "\nx.Idle/h=10/p=5 100000 1000\nx.One-2 20 1\n") {
		t.Fatal(got)
	}
	for baseline, want := range map[string]string{
		"x.Idle/h=10/p=5 100000 1000\nx.One-2 20 1\n":            "",
		"x.Idle/h=10/p=5 120000 9000\nx.One-2 20 1\n":            "",
		"x.Idle/h=10/p=5 94000 1000\nx.One-2 20 1\n":             "x.Idle/h=10/p=5: 100000 bytes, in the baseline 94000",
		"x.Idle/h=10/p=5 100000 900\nx.One-2 20 1\n":             "x.Idle/h=10/p=5: 1000 allocations, in the baseline 900",
		"x.Idle/h=10/p=5 100000 1000\nx.Two 1 1\nx.One-2 20 1\n": "x.Two: in the baseline, but not measured",
		"x.Idle/h=10/p=5 100000 1000\n":                          "x.One-2: measured, but not in the baseline",
	} {
		if got := strings.Join(compareCosts(readCosts(t, []byte(baseline)), is), "\n"); got != want {
			t.Errorf("baseline\n%scomplaint %q, not %q", baseline, got, want)
		}
	}
}
