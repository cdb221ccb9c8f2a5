package jobs

import (
	"context"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/switches"
)

// controls is what the command line of qmod asks for.
type controls struct {
	list   []*gdi.Control
	force  bool
	format switches.Format
}

var controlCommand = &switches.Command[controls]{
	Name:   "qmod",
	Usage:  "[options]",
	Indent: 3,
	Column: 27,
	Switches: []switches.Switch[controls]{
		onEither("c", "clear", "clear error state"),
		onJobs("cj", "clear", "clear job error state"),
		onQueues("cq", "clear", "clear queue error state"),
		onQueues("d", "disable", "disable"),
		onQueues("e", "enable", "enable"),
		{Name: "f", Help: "force action", Set: switches.Flag(func(o *controls) *bool { return &o.force })},
		switches.Fmt(func(o *controls) *switches.Format { return &o.format }),
		{Name: "help", Help: "print this help"},
		onEither("r", "reschedule", "reschedule jobs (running in queue)"),
		onJobs("rj", "reschedule", "reschedule jobs"),
		onQueues("rq", "reschedule", "reschedule all jobs in a queue"),
		onEither("s", "suspend", "suspend"),
		onJobs("sj", "suspend", "suspend jobs"),
		onQueues("sq", "suspend", "suspend queues"),
		onEither("us", "unsuspend", "unsuspend"),
		onJobs("usj", "unsuspend", "unsuspend jobs"),
		onQueues("usq", "unsuspend", "unsuspend queues"),
		{Name: "t", Take: switches.One, Set: restrictTasks},
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

// onQueues, onJobs and onEither make the row of a switch that acts on queues, on
// jobs, or on jobs where the word is a job's number and on queues elsewhere.
func onQueues(name, action, help string) switches.Switch[controls] {
	return controlSwitch(name, "wc_queue_list", action, help, func(string) bool { return true })
}

func onJobs(name, action, help string) switches.Switch[controls] {
	return controlSwitch(name, "job_list", action, help, func(string) bool { return false })
}

func onEither(name, action, help string) switches.Switch[controls] {
	return controlSwitch(name, "job_wc_queue_list", action, help, func(word string) bool {
		id, _, _ := strings.Cut(word, ".")
		return !isNumber(id)
	})
}

func isNumber(word string) bool { return strings.Trim(word, "0123456789") == "" }

func controlSwitch(name, args, action, help string, isQueue func(word string) bool) switches.Switch[controls] {
	return switches.Switch[controls]{Name: name, Args: args, Help: help, Take: switches.Many,
		Set: func(o *controls, words []string) error {
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
func (o *controls) add(action string, queues bool, word string) {
	if n := len(o.list); n == 0 || o.list[n-1].Action != action || o.list[n-1].Queues != queues {
		o.list = append(o.list, &gdi.Control{Action: action, Queues: queues})
	}
	last := o.list[len(o.list)-1]
	last.Refs = append(last.Refs, word)
}

// restrictTasks is the -t after a job: 7 -t 1-3 is 7.1-3; after a name it stays.
func restrictTasks(o *controls, words []string) error {
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

// RunQmod is qmod(1): it has qmaster disable, enable, suspend, unsuspend, clear or reschedule queues and jobs. Each
// switch is one request; they are sent in the order of the command line. It returns the exit status.
func RunQmod(env opt.Env, args []string) int {
	return opt.RunApp(env, opt.App(env, controlCommand, sendControls), args)
}

func sendControls(ctx context.Context, env opt.Env, o *controls) int {
	if len(o.list) == 0 {
		return opt.Complain(env, controlCommand, switches.ErrNoOperands)
	}
	var bodies []gdi.Body
	for _, order := range o.list {
		order.Force = o.force
		bodies = append(bodies, order)
	}
	_, code := env.Request(ctx, o.format, controlCommand.Name, bodies...)
	return code
}
