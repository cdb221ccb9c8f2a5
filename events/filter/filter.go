package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// Filter is what is asked for. An event passes when every condition that was
// added holds for it; a condition with several values holds when one of them
// does. The zero value lets everything through.
type Filter struct {
	names  []string // event names, JOB or JOB_ADD
	jobs   []jobTasks
	users  []pattern.Expression
	hosts  []pattern.Expression
	queues []pattern.Expression
	causes []pattern.Expression
	has    []string
}

// jobTasks are tasks of a job; none: the whole job.
type jobTasks struct {
	job   uint32
	tasks grid.Range
}

// conditions are the words that Add and Parse know, in the order of Legend.
var conditions = []struct {
	name, help string
	add        func(f *Filter, value string) error
}{
	{"kind", "events of these kinds or of these names: JOB, JATASK_MOD", (*Filter).addKind},
	{"job", "a job, job.task or job.first-last, and what is said of it", (*Filter).addJob},
	{"user", "what belongs to these users", add(func(f *Filter) *[]pattern.Expression { return &f.users })},
	{"host", "what concerns these hosts, and the tasks that run on them",
		add(func(f *Filter) *[]pattern.Expression { return &f.hosts })},
	{"queue", "what concerns these queues or queue instances, and the tasks that run in them",
		add(func(f *Filter) *[]pattern.Expression { return &f.queues })},
	{"cause", "what these commands, messages or senders brought about: qsub, orders, alice@*",
		add(func(f *Filter) *[]pattern.Expression { return &f.causes })},
	{"has", "events whose line of text contains one of these: state=running", func(f *Filter, value string) error {
		f.has = append(f.has, value)
		return nil
	}},
}

// Legend are the conditions and what each lets through, for help texts.
func Legend() (lines [][2]string) {
	for _, c := range conditions {
		lines = append(lines, [2]string{c.name, c.help})
	}
	return lines
}

// Parse reads a filter as it is typed in: conditions name=value[,value...],
// separated by blanks; names are those of Legend, values of user, host, queue
// and cause expressions of wildcards as sge_types(1) has them.
//
//	job=4711 kind=JATASK has=state=running
func Parse(text string) (*Filter, error) {
	f := &Filter{}
	for _, word := range strings.Fields(text) {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("%q is no condition: name=value was expected", word)
		}
		if err := f.Add(name, value); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Add adds a condition: name is one of Legend's, value a list of values
// separated by commas.
func (f *Filter) Add(name, value string) error {
	for _, c := range conditions {
		if c.name != name {
			continue
		}
		values := strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
		if len(values) == 0 {
			return fmt.Errorf("%s of what? a value is missing", name)
		}
		for _, v := range values {
			if err := c.add(f, v); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("unknown condition %q", name)
}

// Empty reports whether everything passes.
func (f *Filter) Empty() bool {
	return len(f.names)+len(f.jobs)+len(f.has)+len(f.causes) == 0 && !f.NeedsState()
}

// NeedsState reports whether Of needs the state before the list: the owner of a task's job
// and the hosts it ran on are not in every event.
func (f *Filter) NeedsState() bool { return len(f.users)+len(f.hosts)+len(f.queues) > 0 }

func (f *Filter) addKind(name string) error {
	kind, op := strings.ToUpper(name), ""
	for _, o := range []string{"_LIST", "_ADD", "_MOD", "_DEL"} {
		if k, ok := strings.CutSuffix(kind, o); ok {
			kind, op = k, o
			break
		}
	}
	if !slices.ContainsFunc(grid.Kinds, func(s grid.Spec) bool { return s.Name == kind }) {
		return fmt.Errorf("unknown kind %q", name)
	}
	f.names = append(f.names, kind+op)
	return nil
}

func (f *Filter) addJob(text string) error {
	job, tasks, dotted := strings.Cut(text, ".")
	j := jobTasks{}
	var err error
	if j.job, err = number(job); err == nil && dotted {
		first, last, ranged := strings.Cut(tasks, "-")
		if j.tasks.First, err = number(first); err == nil {
			j.tasks.Last = j.tasks.First
			if ranged {
				j.tasks.Last, err = number(last)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%q names no job: a number was expected, or job.task", text)
	}
	f.jobs = append(f.jobs, j)
	return nil
}

func number(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err == nil && n == 0 {
		err = strconv.ErrRange
	}
	return uint32(n), err
}

// add makes a condition of expressions.
func add(list func(*Filter) *[]pattern.Expression) func(*Filter, string) error {
	return func(f *Filter, value string) error {
		l := list(f)
		*l = append(*l, pattern.Compile(value, false))
		return nil
	}
}

// Of returns the list with those of its events that pass. before is the state before the
// list; it may be nil unless NeedsState.
func (f *Filter) Of(l events.List, before events.Memory) events.List {
	if f.Empty() {
		return l
	}
	all := l.Events
	l.Events = nil
	if !f.cause(l.Cause) {
		return l
	}
	for _, e := range all {
		if f.passes(e, before) {
			l.Events = append(l.Events, e)
		}
	}
	return l
}

func (f *Filter) cause(c events.Cause) bool {
	user, _, _ := strings.Cut(c.Who, "@")
	names := []string{c.What, c.Who, user}
	if c.Token != 0 {
		names = append(names, fmt.Sprintf("token %d", c.Token))
	}
	if c.Proposal != 0 {
		names = append(names, fmt.Sprintf("proposal %d", c.Proposal))
	}
	return matches(f.causes, names...)
}

func (f *Filter) passes(e events.Event, before events.Memory) bool {
	if len(f.names) > 0 && !slices.Contains(f.names, e.Kind.String()) && !slices.Contains(f.names, e.Name()) {
		return false
	}
	if len(f.has) > 0 {
		text := string(e.AppendText(nil))
		if !slices.ContainsFunc(f.has, func(h string) bool { return strings.Contains(text, h) }) {
			return false
		}
	}
	if len(f.jobs) == 0 && !f.NeedsState() {
		return true
	}
	s := subjectOf(e, before)
	return (len(f.jobs) == 0 || slices.ContainsFunc(f.jobs, s.is)) &&
		matches(f.users, s.users...) && matches(f.hosts, s.hosts...) && anyQueue(f.queues, s)
}

// matches reports whether one of the names is asked for; without expressions
// nothing in particular is. An expression that begins with ! asks that no name
// be the one after it.
func matches(asked []pattern.Expression, names ...string) bool {
	return len(asked) == 0 || slices.ContainsFunc(asked, func(x pattern.Expression) bool {
		return holds(x, names, x.Match)
	})
}

// anyQueue is matches for queue instances: expressions with an @ mean them,
// others their cluster queues.
func anyQueue(asked []pattern.Expression, s subject) bool {
	return len(asked) == 0 || slices.ContainsFunc(asked, func(x pattern.Expression) bool {
		return holds(x, s.queues, func(instance string) bool {
			queue, _, _ := strings.Cut(instance, "@")
			if strings.Contains(x.String(), "@") {
				return x.Match(instance)
			}
			return x.Match(queue)
		})
	})
}

func holds(x pattern.Expression, names []string, match func(string) bool) bool {
	if strings.HasPrefix(x.String(), "!") {
		return !slices.ContainsFunc(names, func(n string) bool { return !match(n) })
	}
	return slices.ContainsFunc(names, match)
}
