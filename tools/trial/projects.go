package trial

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/tools/divide"
	"github.com/quill-grid/quill/tools/swf"
)

// projectsMost is how many projects are told apart: more colours could not.
const projectsMost = 12

// projects are those that --projects names, and whose a job is.
func projects(c *cli.Context, jobs []swf.Job) ([]divide.Project, func(*swf.Job) string, error) {
	which := c.String("projects")
	if which == "" {
		return nil, nil, nil
	}
	n, err := strconv.Atoi(which)
	of, prefix := fields[which], which
	switch {
	case err == nil && (n < 1 || n > projectsMost):
		return nil, nil, fmt.Errorf("--projects: %d is not between 1 and %d", n, projectsMost)
	case err == nil:
		of, prefix = dealt(jobs, n), "p"
	case of == nil:
		return nil, nil, fmt.Errorf("--projects %q: neither a number nor user, group or queue", which)
	}
	var numbers []int64
	for i := range jobs {
		if v := of(&jobs[i]); !slices.Contains(numbers, v) {
			numbers = append(numbers, v)
		}
		if len(numbers) > projectsMost {
			return nil, nil, fmt.Errorf("--projects %s: the log has more than %d of them; --projects N deals its users out", which, projectsMost)
		}
	}
	slices.Sort(numbers)
	weights, err := weights(c.String("weights"), len(numbers))
	if err != nil {
		return nil, nil, err
	}
	var all []divide.Project
	for i, v := range numbers {
		all = append(all, divide.Project{Name: prefix + strconv.FormatInt(v, 10), Weight: weights[i]})
	}
	return all, func(j *swf.Job) string { return prefix + strconv.FormatInt(of(j), 10) }, nil
}

var fields = map[string]func(*swf.Job) int64{
	"user":  func(j *swf.Job) int64 { return max(j.User, 0) },
	"group": func(j *swf.Job) int64 { return max(j.Group, 0) },
	"queue": func(j *swf.Job) int64 { return max(j.Queue, 0) },
}

// dealt deals users out to projects so that each has about as much to run: who
// has most goes first, to the project that has least so far.
func dealt(jobs []swf.Job, n int) func(*swf.Job) int64 {
	work := map[int64]int64{}
	for _, j := range jobs {
		work[j.User] += j.Run * j.Requested
	}
	var users []int64
	for u := range work {
		users = append(users, u)
	}
	slices.SortFunc(users, func(a, b int64) int { return cmp.Or(cmp.Compare(work[b], work[a]), cmp.Compare(a, b)) })
	projects, of := make([]int64, n), map[int64]int64{}
	for _, u := range users {
		least := 0
		for p := range projects {
			if projects[p] < projects[least] {
				least = p
			}
		}
		projects[least] += work[u]
		of[u] = int64(least + 1)
	}
	return func(j *swf.Job) int64 { return of[j.User] }
}

// weights reads as many weights as there are projects.
func weights(text string, n int) ([]float64, error) {
	all := slices.Repeat([]float64{1}, n)
	if text == "" {
		return all, nil
	}
	words := strings.Split(text, ",")
	if len(words) != n {
		return nil, fmt.Errorf("--weights: %d weights for %d projects", len(words), n)
	}
	for i, word := range words {
		w, err := strconv.ParseFloat(word, 64)
		if err != nil || !(w > 0 && w <= 1e6) {
			return nil, fmt.Errorf("--weights: %q is no weight", word)
		}
		all[i] = w
	}
	return all, nil
}
