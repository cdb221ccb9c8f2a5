package attacker

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quill-grid/quill/pkg/opt"
)

// class is what is done to a subject.
type class string

const (
	long      class = "long"      // texts of megabytes
	many      class = "many"      // lists of thousands, requests in thousands
	foreign   class = "foreign"   // names, numbers and identities of others
	Multiline class = "multiline" // line breaks and control characters
	repeated  class = "repeated"  // the same again, as fast as it is answered
	abandoned class = "abandoned" // begun and not ended, answered and not read
)

// classes are all of them.
var classes = []class{long, many, foreign, Multiline, repeated, abandoned}

// family is the subjects of one table, and what each class does to them.
type family struct {
	name, usage string
	local       bool
	run         map[class]func(context.Context, *Field) error
}

// families are the tables that attacks are generated from.
var families = []family{
	{"requests", "each field of each request of users, from the types of package gdi", false,
		map[class]func(context.Context, *Field) error{
			long: requestsLong, many: requestsMany, foreign: requestsForeign, Multiline: requestsMultiline,
			repeated: requestsRepeated, abandoned: requestsAbandoned,
		}},
	{"routes", "each parameter of each route of quill web, from the description that it serves", false,
		map[class]func(context.Context, *Field) error{
			long: routesLong, many: routesMany, foreign: routesForeign, Multiline: routesMultiline, repeated: routesRepeated,
			abandoned: routesAbandoned,
		}},
	{"listeners", "each socket at which a process of the cell listens, from proc(5)", false,
		map[class]func(context.Context, *Field) error{
			long: listenersLong, many: listenersMany, repeated: listenersRepeated, abandoned: listenersAbandoned,
		}},
	{"jobs", "what the processes of a job may do on its host", true, map[class]func(context.Context, *Field) error{
		long: jobsLong, many: jobsMany, foreign: jobsForeign, Multiline: jobsMultiline, repeated: jobsRepeated,
		abandoned: jobsAbandoned,
	}},
}

// Attacks are all there are, in the order in which each runs alone: those of the tables,
// and those with a subject of their own.
var Attacks = append(generated(), madeUp, proposals, registrations, secrets, impersonation, others, files, environment,
	links, fifos, directories)

func generated() (all []Attack) {
	for _, f := range families {
		for _, c := range classes {
			if run := f.run[c]; run != nil {
				if f.local {
					run = afterTrial(run)
				}
				all = append(all, Attack{Name: f.name + "-" + string(c), Usage: f.usage + ": " + usages[c], Roles: AsUser,
					Local: f.local, Run: run})
			}
		}
	}
	return all
}

// afterTrial has an attack by jobs begin when a job of the attacker has run.
func afterTrial(run func(context.Context, *Field) error) func(context.Context, *Field) error {
	return func(ctx context.Context, f *Field) error {
		if err := f.tryJob(ctx); err != nil {
			return err
		}
		return run(ctx, f)
	}
}

var usages = map[class]string{
	long: "megabytes where a word belongs", many: "thousands where a few belong",
	foreign:   "names, numbers and identities of others",
	Multiline: "line breaks and control characters", repeated: "again and again, as fast as it is answered",
	abandoned: "begun and not ended, answered and not read",
}

// Find returns the attacks of these names, or of the families of these names, and the
// first name that is none.
func Find(names []string) (found []Attack, unknown string) {
	for _, n := range names {
		before := len(found)
		for _, a := range Attacks {
			if a.Name == n || strings.HasPrefix(a.Name, n+"-") && slices.ContainsFunc(families, func(f family) bool {
				return f.name == n
			}) {
				found = append(found, a)
			}
		}
		if len(found) == before {
			return nil, n
		}
	}
	return found, ""
}

// Be is the process of an attack. It ends with ctx and with its standard input.
func Be(ctx context.Context, env opt.Env) error {
	in := bufio.NewReader(env.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("attack: no instructions on standard input: %w", err)
	}
	f := &Field{env: env, breaches: map[string]bool{}, covered: map[string]int{}, once: map[string]int{}}
	if err := json.Unmarshal(line, f); err != nil {
		return fmt.Errorf("attack: %w", err)
	}
	some, unknown := Find([]string{f.Attack})
	if unknown != "" {
		return fmt.Errorf("attack: unknown attack %q", unknown)
	}
	f.dice = rand.New(rand.NewPCG(f.Seed, 1))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		io.Copy(io.Discard, in)
		cancel()
	}()
	var telling sync.WaitGroup
	over := make(chan struct{})
	telling.Go(func() {
		for tick := time.NewTicker(200 * time.Millisecond); ; {
			select {
			case <-tick.C:
				f.printProgress(Progress{})
			case <-over:
				tick.Stop()
				return
			}
		}
	})
	for ctx.Err() == nil {
		if err := some[0].Run(ctx, f); err != nil && ctx.Err() == nil {
			f.printProgress(Progress{Failed: err.Error()})
		}
		f.pause(ctx, 100*time.Millisecond)
	}
	close(over)
	telling.Wait()
	f.printProgress(Progress{})
	return nil
}
