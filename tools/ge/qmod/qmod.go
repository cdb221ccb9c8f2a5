package qmod

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
)

// orders is what the command line asks for.
type orders struct {
	list   []*gdi.Control
	force  bool
	format switches.Format
}

var command = &switches.Command[orders]{
	Name:   "qmod",
	Usage:  "[options]",
	Indent: 3,
	Column: 27,
	Switches: []switches.Switch[orders]{
		either("c", "clear", "clear error state"),
		jobs("cj", "clear", "clear job error state"),
		queues("cq", "clear", "clear queue error state"),
		queues("d", "disable", "disable"),
		queues("e", "enable", "enable"),
		{Name: "f", Help: "force action", Set: switches.Flag(func(o *orders) *bool { return &o.force })},
		switches.Fmt(func(o *orders) *switches.Format { return &o.format }),
		{Name: "help", Help: "print this help"},
		either("r", "reschedule", "reschedule jobs (running in queue)"),
		jobs("rj", "reschedule", "reschedule jobs"),
		queues("rq", "reschedule", "reschedule all jobs in a queue"),
		either("s", "suspend", "suspend"),
		jobs("sj", "suspend", "suspend jobs"),
		queues("sq", "suspend", "suspend queues"),
		either("us", "unsuspend", "unsuspend"),
		jobs("usj", "unsuspend", "unsuspend jobs"),
		queues("usq", "unsuspend", "unsuspend queues"),
		{Name: "t", Take: switches.One, Set: restrict},
	},
	Legend:  legend,
	Unknown: switches.HelpInstead,
}

const legend = `
job_wc_queue_list          {job_tasks|wc_queue}[{','|' '}{job_tasks|wc_queue}[{','|' '}...]]
job_list                   {job_tasks}[{','|' '}job_tasks[{','|' '}...]]
job_tasks                  {{job_id'.'task_id_range}|job_name|pattern}[' -t 'task_id_range]
task_id_range              task_id['-'task_id[':'step]]
wc_cqueue                  wildcard expression matching a cluster queue
wc_host                    wildcard expression matching a host
wc_hostgroup               wildcard expression matching a hostgroup
wc_qinstance               wc_cqueue@wc_host
wc_qdomain                 wc_cqueue@wc_hostgroup
wc_queue                   wc_cqueue|wc_qdomain|wc_qinstance
wc_queue_list              wc_queue[','wc_queue[','...]]
`

// queues, jobs and either make the row of a switch that acts on queues, on
// jobs, or on jobs where the word is a job's number and on queues elsewhere.
func queues(name, action, help string) switches.Switch[orders] {
	return row(name, "wc_queue_list", action, help, func(string) bool { return true })
}

func jobs(name, action, help string) switches.Switch[orders] {
	return row(name, "job_list", action, help, func(string) bool { return false })
}

func either(name, action, help string) switches.Switch[orders] {
	return row(name, "job_wc_queue_list", action, help, func(word string) bool {
		id, _, _ := strings.Cut(word, ".")
		return !isNumber(id)
	})
}

func isNumber(word string) bool { return strings.Trim(word, "0123456789") == "" }

func row(name, args, action, help string, isQueue func(word string) bool) switches.Switch[orders] {
	return switches.Switch[orders]{Name: name, Args: args, Help: help, Take: switches.Many,
		Set: func(o *orders, words []string) error {
			for _, list := range words {
				for _, word := range switches.Names(list) {
					queue := isQueue(word)
					if !queue {
						if _, err := switches.JobRefs(word); err != nil {
							return err
						}
					}
					o.add(action, queue, word)
				}
			}
			return nil
		}}
}

// add puts a word to the last request when it is of the same kind.
func (o *orders) add(action string, queues bool, word string) {
	if n := len(o.list); n == 0 || o.list[n-1].Action != action || o.list[n-1].Queues != queues {
		o.list = append(o.list, &gdi.Control{Action: action, Queues: queues})
	}
	last := o.list[len(o.list)-1]
	last.Refs = append(last.Refs, word)
}

// restrict is the -t after a job: 7 -t 1-3 is 7.1-3; after a name it stays.
func restrict(o *orders, words []string) error {
	if len(o.list) == 0 || o.list[len(o.list)-1].Queues {
		return switches.LonelyTasks(words[0])
	}
	tasks, err := switches.TaskRanges(words[0])
	if err != nil {
		return err
	}
	refs := o.list[len(o.list)-1].Refs
	job, _, _ := strings.Cut(refs[len(refs)-1], ".")
	if isNumber(job) {
		refs[len(refs)-1] = job + "." + tasks.String()
	} else {
		refs[len(refs)-1] += " -t " + tasks.String()
	}
	return nil
}

// App is the command for urfave/cli.
func App(env opt.Env) *cli.App { return opt.App(env, command, control) }

// Run is the whole command; it returns the exit status.
func Run(env opt.Env, args []string) int { return opt.RunApp(env, App(env), args) }

func control(ctx context.Context, env opt.Env, o *orders) int {
	if len(o.list) == 0 {
		return opt.Complain(env, command, switches.ErrNoOperands)
	}
	var bodies []gdi.Body
	for _, order := range o.list {
		order.Force = o.force
		bodies = append(bodies, order)
	}
	_, code := env.Request(ctx, o.format, command.Name, bodies...)
	return code
}
