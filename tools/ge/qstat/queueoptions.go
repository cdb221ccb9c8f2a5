package qstat

import (
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/switches"
	"github.com/quill-grid/quill/pkg/view"
)

// queueSwitches returns the switches by which both commands choose queue instances, by name; of finds where a command
// keeps the choice.
func queueSwitches[T any](of func(*T) *view.QueueFilter) map[string]switches.Switch[T] {
	return map[string]switches.Switch[T]{
		"l": {Name: "l", Args: "resource_list", Help: "request the given resources", Take: switches.Word,
			Set: func(t *T, w []string) error {
				list, ok := switches.Requests(of(t).Requests, w[0])
				if !ok {
					return switches.Errorf("error: wrong resource list format, \"-l name=value\" is supposed: %q", w[0])
				}
				of(t).Requests = list
				return nil
			}},
		"pe": {Name: "pe", Args: "pe_list", Help: "select only queues with one of these parallel environments",
			Take: switches.Word,
			Set:  switches.List(func(t *T) *grid.Names { return &of(t).PEs })},
		"q": {Name: "q", Args: "wc_queue_list", Help: "print information on given queue", Take: switches.Word,
			Set: switches.List(func(t *T) *grid.Names { return &of(t).Queues })},
		"qs": {Name: "qs", Args: "{a|c|d|o|s|u|A|C|D|E|S}", Help: "selects queues which are in the given state(s)",
			Take: switches.Word,
			Set: func(t *T, w []string) (err error) {
				of(t).States, err = view.ParseQueueStates(w[0], "acdosuACDES")
				return err
			}},
		"U": {Name: "U", Args: "user_list", Help: "select only queues where these users have access", Take: switches.Word,
			Set: switches.List(func(t *T) *grid.Names { return &of(t).Users })},
	}
}

// queueLegend explains the argument words of both commands.
const queueLegend = `
pe_list                  pe[,pe,...]
job_identifier_list      [job_id|job_name|pattern]{, [job_id|job_name|pattern]}
resource_list            resource[=value][,resource[=value],...]
user_list                user|*|@group[,user|*|@group],...]
resource_attributes      resource,resource,...
wc_cqueue                wildcard expression matching a cluster queue
wc_host                  wildcard expression matching a host
wc_hostgroup             wildcard expression matching a hostgroup
wc_qinstance             wc_cqueue@wc_host
wc_qdomain               wc_cqueue@wc_hostgroup
wc_queue_list            wc_cqueue|wc_qdomain|wc_qinstance
wc_queue_list            wc_queue[,wc_queue,...]
`
