package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/quill-grid/quill/pkg/opt"
)

// options say how a bench is run. Zero values are the bench's own.
type options struct {
	Jobs    int    // how many
	Clients int    // how many submit at the same time, in the case of many
	Hosts   int    // execution hosts
	Slots   int    // in all
	Durable *bool  // acknowledge only what a power cut can't take
	Dir     string // where the cells are made; "": the system's place
	Keep    bool   // leave their directories
	Scratch string // directory for the folders of running jobs; "": /dev/shm where there is one, "none": the cell's

	// Profiles of the process that hosts the cell; where the daemons are processes
	// of their own, of qmaster, and of the others in FILE.ROLE. A
	// second cell's go to FILE.2, and so on.
	CPUProfile string
	MemProfile string
}

// Bench is one row of the table.
type Bench struct {
	Name  string
	Usage string
	takes takes
	run   func(context.Context, *suite) error
}

// takes are the flags by which a bench is varied, and what each is by default.
type takes map[string]string

// Benches are all there are, in the order of `all`.
var Benches = []Bench{
	{"submit", "jobs acknowledged a second: one client, many, pipelined, and qsub processes",
		takes{"jobs": "300 to 60000", "clients": "16", "durable": "true"}, submissions},
	{"latency", "time from submit to the job's first instruction in an idle cell",
		takes{"jobs": "150", "hosts": "1", "slots": "8", "durable": "true", "scratch": inMemory}, latency},
	{"throughput", "short jobs a second from first submit to last accounting record",
		takes{"jobs": "5000", "hosts": "1", "slots": "8", "durable": "false", "scratch": inMemory}, throughput},
	{"recover", "restart after kill -9 with many pending jobs: time until qstat answers and jobs run, memory a job",
		takes{"jobs": "1000000", "durable": "false"}, recovery},
	{"list", "time and memory of qstat with many jobs",
		takes{"jobs": "100000", "durable": "false"}, list},
	{"fair", "submits of one user beside 100 loops of listings, and beside a user who floods the cell",
		takes{"jobs": "100000", "durable": "true"}, fair},
	{"api", "delay of events of quill web, cost of 1,000 readers, listings, moments of the past",
		takes{"jobs": "100000", "durable": "true"}, api},
	{"schedule",
		"scheduling runs in large cells: idle, refill, adjusted, fill, reserve, instances, topology, parallel, memory, growth; a workload log",
		takes{"jobs": "1000000", "hosts": "10000"}, schedule},
}

const inMemory = "/dev/shm where there is one"

// runBenches runs the named benches: figures go to Stdout as lines of JSON when they
// are known, progress and at the end a table to Stderr.
func runBenches(ctx context.Context, env opt.Env, o options, names ...string) error {
	r := &suite{options: o, env: env}
	var err error
	if r.self, err = os.Executable(); err != nil {
		return err
	}
	if r.quill, err = opt.Program("quill"); err != nil {
		return err
	}
	for _, file := range []*string{&r.CPUProfile, &r.MemProfile} { // the cell's processes live elsewhere
		if *file != "" && !filepath.IsAbs(*file) {
			*file = filepath.Join(env.Dir, *file)
		}
	}
	for _, b := range Benches {
		if !slices.Contains(names, b.Name) {
			continue
		}
		r.bench = b.Name
		r.progress("%s", b.Usage)
		if err = b.run(ctx, r); err != nil {
			err = fmt.Errorf("bench %s: %w", b.Name, err)
			break
		}
	}
	printTable(env.Stderr, r.figures)
	return err
}

// suite is what the benches of one invocation share.
type suite struct {
	options
	env     opt.Env
	self    string // this program, which the parts are
	quill   string // the program of the cell's commands and of the jobs' shepherds
	bench   string
	figures []Figure
	sites   int
}

// figure makes a figure known.
func (r *suite) figure(f Figure) {
	f.Bench = r.bench
	r.figures = append(r.figures, f)
	fmt.Fprintf(r.env.Stdout, "%s\n", f.line())
}

func (r *suite) progress(format string, args ...any) {
	fmt.Fprintf(r.env.Stderr, "%s: %s\n", r.bench, fmt.Sprintf(format, args...))
}

// or is the option if it was given.
func or(given, otherwise int) int {
	if given > 0 {
		return given
	}
	return otherwise
}

// count is a number as the names of cases have it: 5000, 100k, 1M.
func count(n int) string {
	switch {
	case n >= 1e6 && n%1e6 == 0:
		return fmt.Sprintf("%dM", n/1e6)
	case n >= 1e4 && n%1000 == 0:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
