package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/schedd/algorithm"
	"github.com/quill-grid/quill/tools/simulator/workload"
)

// projectsMost is how many projects can be distinguished: more colours could not.
const projectsMost = 12

// projects are those that --projects names, and whose a job is. A log with
// fewer users than there are to be projects has its jobs dealt out, which is reported.
func projects(
	c *cli.Context, env opt.Env, jobs []workload.Job,
) ([]algorithm.Project, func(*workload.Job) string, error) {
	which := c.String("projects")
	if which == "" {
		return nil, nil, nil
	}
	n, err := strconv.Atoi(which)
	of, prefix := fields[which], which
	switch {
	case err == nil && (n < 1 || n > projectsMost):
		return nil, nil, fmt.Errorf("--projects: %d is not between 1 and %d", n, projectsMost)
	case err == nil && n > len(jobs):
		return nil, nil, fmt.Errorf("--projects %d: there are only %s to deal out", n, opt.Count(len(jobs), "job"))
	case err == nil:
		of, prefix = dealt(jobs, n, fields["user"]), "p"
		if users := len(numbers(jobs, fields["user"])); users < n {
			of = dealt(jobs, n, func(j *workload.Job) int64 { return j.Number })
			fmt.Fprintf(env.Stderr, "sim: the log has %s, too few for %d projects: its jobs are dealt out, not its users\n",
				opt.Count(users, "user"), n)
		}
	case of == nil:
		return nil, nil, fmt.Errorf("--projects %q: neither a number nor user, group or queue", which)
	}
	numbers := numbers(jobs, of)
	if len(numbers) > projectsMost {
		return nil, nil, fmt.Errorf("--projects %s: the log has more than %d of them; --projects N deals its users out",
			which, projectsMost)
	}
	var all []algorithm.Project
	for _, v := range numbers {
		all = append(all, algorithm.Project{Name: prefix + strconv.FormatInt(v, 10), Weight: 1})
	}
	if text := c.String("weights"); text != "" {
		if err := weigh(all, text); err != nil {
			return nil, nil, err
		}
	}
	return all, func(j *workload.Job) string { return prefix + strconv.FormatInt(of(j), 10) }, nil
}

// numbers are those that the jobs have, in order.
func numbers(jobs []workload.Job, of func(*workload.Job) int64) (all []int64) {
	seen := map[int64]bool{}
	for i := range jobs {
		if v := of(&jobs[i]); !seen[v] {
			seen[v] = true
			all = append(all, v)
		}
	}
	slices.Sort(all)
	return all
}

var fields = map[string]func(*workload.Job) int64{
	"user":  func(j *workload.Job) int64 { return max(j.User, 0) },
	"group": func(j *workload.Job) int64 { return max(j.Group, 0) },
	"queue": func(j *workload.Job) int64 { return max(j.Queue, 0) },
}

// dealt deals users, or whoever has a number, out to projects so that each has
// about as much to run: who has most goes first, to the project that has least
// so far.
func dealt(jobs []workload.Job, n int, who func(*workload.Job) int64) func(*workload.Job) int64 {
	work := map[int64]int64{}
	for i := range jobs {
		work[who(&jobs[i])] += jobs[i].Run * jobs[i].Requested
	}
	all := slices.SortedFunc(maps.Keys(work),
		func(a, b int64) int { return cmp.Or(cmp.Compare(work[b], work[a]), cmp.Compare(a, b)) })
	projects, of := make([]int64, n), map[int64]int64{}
	for _, w := range all {
		least := 0
		for p := range projects {
			if projects[p] < projects[least] {
				least = p
			}
		}
		projects[least] += work[w]
		of[w] = int64(least + 1)
	}
	return func(j *workload.Job) int64 { return of[who(j)] }
}

// weigh reads a weight for each project.
func weigh(projects []algorithm.Project, text string) error {
	words := strings.Split(text, ",")
	if len(words) != len(projects) {
		var names []string
		for _, p := range projects {
			names = append(names, p.Name)
		}
		return fmt.Errorf("--weights %s does not say the weight of each of %s: %s; --projects %d makes %[4]d of the log",
			text, opt.Count(len(projects), "project"), strings.Join(names, ", "), len(words))
	}
	for i, word := range words {
		w, err := strconv.ParseFloat(word, 64)
		if err != nil || !(w > 0 && w <= 1e6) {
			return fmt.Errorf("--weights: %q is no weight", word)
		}
		projects[i].Weight = w
	}
	return nil
}
