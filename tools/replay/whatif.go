package replay

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/history"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/schedd/algorithm/shipped"
	"github.com/quill-grid/quill/tools/outcome"
	"github.com/quill-grid/quill/tools/whatif"
)

// whatIf repeats what the cell was asked to do under other circumstances.
var whatIf = analysis{
	name: "what-if",
	flags: []cli.Flag{
		&cli.BoolFlag{Name: "what-if",
			Usage: "repeat submissions, ends and changes of the cell under --algorithm, --config or --hosts, and compare; without these, under what was in effect"},
		&cli.StringSliceFlag{Name: "algorithm", Usage: "--what-if under `ALGORITHM`, as sched_conf(5) names it, or \"all\""},
		&cli.StringFlag{
			Name: "config", Usage: "--what-if under the scheduler configuration in `FILE`, as qconf -ssconf prints it"},
		&cli.StringFlag{Name: "hosts", Usage: "--what-if on the cluster in `FILE`: a host and its slots on each line"},
		&cli.StringFlag{Name: "plot", Usage: "--what-if draws utilisation and queue length over time, `FILE`.svg"},
		&cli.StringFlag{Name: "shares", Usage: "--what-if draws each project's part of what runs over time, `FILE`.svg"},
		&cli.StringFlag{
			Name: "report", Usage: "--what-if writes tables and pictures as one page that needs no other file, `FILE`.html"},
	},
	run: func(c *cli.Context, env opt.Env, log *history.Log) error {
		if err := compare(c, env, log); err != nil {
			return fmt.Errorf("replay --what-if: %w", err)
		}
		return nil
	},
}

// variant is one way in which it might have been.
type variant struct {
	name string
	whatif.Scenario
}

func compare(c *cli.Context, env opt.Env, log *history.Log) error {
	files := outcome.Files{Plot: c.String("plot"), Shares: c.String("shares"), Report: c.String("report")}
	if err := files.Check(); err != nil {
		return err
	}
	recorded, err := record(c, env, log)
	if err != nil {
		return err
	}
	variants, err := variants(c, recorded.Start)
	if err != nil {
		return err
	}
	compared := &outcome.Comparison{Workload: workload(c, recorded), Unit: "tasks", Machine: "slots"}
	add := func(o *outcome.Outcome) { compared.Add(o, 0, 0) }
	for i, v := range variants {
		replayed, err := whatif.Replay(c.Context, recorded, v.Scenario)
		if err != nil {
			return err
		}
		then, now, left := whatif.Compare(recorded, replayed, v.name)
		if len(then.Jobs) == 0 {
			return errors.New("no task has ended in both")
		}
		if i == 0 {
			add(then)
		}
		add(now)
		printNotes(env, v.name, recorded, replayed, left, i == 0)
	}
	if c.Bool("json") {
		if err := compared.JSON(env.Stdout); err != nil {
			return err
		}
	} else {
		compared.Table(env.Stdout)
	}
	return files.Write(compared, opt.Entered(c))
}

// workload names what is compared: the log, and the time from the beginning to the last list.
func workload(c *cli.Context, r *whatif.Recorded) string {
	const layout = "2006-01-02 15:04 UTC"
	name := "the cell"
	if path := c.String("log"); path != "" {
		name = filepath.Base(filepath.Clean(path))
	}
	return fmt.Sprintf("%s, %s to %s", name, r.Start.At.Std().UTC().Format(layout), r.Last.Std().UTC().Format(layout))
}

// record reads the stretch of the log from --from to --to.
func record(c *cli.Context, env opt.Env, log *history.Log) (*whatif.Recorded, error) {
	from, to, err := bounds(c, env, log)
	if err != nil {
		return nil, err
	}
	start, err := log.Full(max(from, 1) - 1)
	if err != nil {
		return nil, err
	}
	return whatif.Record(start, until(log, start.Seq+1, to))
}

// until are the lists from one to another; 0: to the end.
func until(log *history.Log, from, to uint64) iter.Seq2[events.List, error] {
	return func(yield func(events.List, error) bool) {
		for l, err := range log.Lists(from) {
			if to > 0 && l.Seq > to || !yield(l, err) {
				return
			}
		}
	}
}

// variants are what the flags ask for.
func variants(c *cli.Context, s *state.State) ([]variant, error) {
	var o whatif.Scenario
	var words []string
	if path := c.String("config"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		o.Conf = grid.DefaultSchedConf()
		if err := conf.Parse(string(text), o.Conf); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		words = append(words, filepath.Base(path))
	}
	if path := c.String("hosts"); path != "" {
		hosts, err := readHosts(path)
		if err != nil {
			return nil, err
		}
		o.Hosts, words = hosts, append(words, filepath.Base(path))
	}
	names, err := shipped.Named(c.StringSlice("algorithm"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		if len(words) == 0 {
			words = []string{"as it was"}
		}
		return []variant{{strings.Join(words, " "), o}}, nil
	}
	var all []variant
	for _, name := range names {
		o.Algorithm = name
		all = append(all, variant{strings.Join(append(slices.Clone(words), name), " "), o})
	}
	return all, nil
}

// readHosts reads a cluster: a host and its slots on each line.
func readHosts(path string) (hosts []whatif.HostSpec, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		slots := 0
		if len(words) == 2 {
			slots, err = strconv.Atoi(words[1])
		}
		if err != nil || slots <= 0 {
			return nil, fmt.Errorf("%s: line %d: %q is no host and its slots", path, i+1, line)
		}
		hosts = append(hosts, whatif.HostSpec{Name: words[0], Slots: int32(slots)})
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("%s names no host", path)
	}
	return hosts, nil
}

// printNotes prints what the table cannot show; with first also what holds for all.
func printNotes(env opt.Env, name string, r *whatif.Recorded, p *whatif.Replayed, left int, first bool) {
	say := func(format string, args ...any) {
		fmt.Fprintf(env.Stderr, "what-if: %s: "+format+"\n", append([]any{name}, args...)...)
	}
	if left > 0 {
		say("%d tasks ended in one of the two only and are not compared", left)
	}
	if p.Held > 0 {
		say("%s", p.HeldText())
	}
	if p.Waiting > 0 {
		say("%d tasks would wait without end, of the jobs %s", p.Waiting, few(p.Stuck, ", "))
	}
	if n := len(p.Refused); n > 0 {
		say("%d refused: %s", n, few(p.Refused, "; "))
	}
	if n := len(p.Moot); n > 0 {
		say("%d requests find nothing to do: %s", n, few(p.Moot, "; "))
	}
	if first {
		for _, what := range slices.Sorted(maps.Keys(r.Skipped)) {
			say("not repeated: %s, %d times", what, r.Skipped[what])
		}
	}
}

// few are the first of many, each once, and how many more there are.
func few(all []string, between string) string {
	const most = 3
	var shown []string
	for _, text := range all {
		if !slices.Contains(shown, text) {
			shown = append(shown, text)
		}
	}
	more := len(shown) - most
	if more > 0 {
		shown = append(shown[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, between)
}
