package document

import "github.com/quill-grid/quill/pkg/view"

// ClusterQueues is qstat -g c.
type ClusterQueues struct {
	Queues Rows[ClusterQueue] `json:"queues" jsonschema:"cluster queues by name"`
}

// SchemaName returns qstat-cqueue.
func (ClusterQueues) SchemaName() string { return "qstat-cqueue" }

// ClusterQueue is a cluster queue. All numbers but the load are slots.
type ClusterQueue struct {
	Name      string   `json:"name"`
	Load      *float64 `json:"load,omitzero" jsonschema:"mean np_load_avg of the slots; absent: not known"`
	Used      int      `json:"used" jsonschema:"slots of started tasks"`
	Reserved  int      `json:"resv" jsonschema:"slots held by running advance reservations"`
	Available int      `json:"available" jsonschema:"free slots of instances in none of the states below"`
	Total     int      `json:"total" jsonschema:"all slots"`
	Temporary int      `json:"temp_disabled" jsonschema:"slots in states aoACDS"`
	Manual    int      `json:"manual_intervention" jsonschema:"slots in states cdsuE"`

	Suspended        *int `json:"suspend_manual,omitzero" jsonschema:"with -ext: slots in this state"`
	SuspendAlarm     *int `json:"suspend_threshold,omitzero" jsonschema:"with -ext: slots in this state"`
	Subordinate      *int `json:"suspend_on_subordinate,omitzero" jsonschema:"with -ext: slots in this state"`
	CalendarSuspend  *int `json:"suspend_calendar,omitzero" jsonschema:"with -ext: slots in this state"`
	Unknown          *int `json:"unknown,omitzero" jsonschema:"with -ext: slots in this state"`
	LoadAlarm        *int `json:"load_alarm,omitzero" jsonschema:"with -ext: slots in this state"`
	Disabled         *int `json:"disabled_manual,omitzero" jsonschema:"with -ext: slots in this state"`
	CalendarDisabled *int `json:"disabled_calendar,omitzero" jsonschema:"with -ext: slots in this state"`
	Ambiguous        *int `json:"ambiguous,omitzero" jsonschema:"with -ext: slots in this state"`
	Orphaned         *int `json:"orphaned,omitzero" jsonschema:"with -ext: slots in this state"`
	Error            *int `json:"error,omitzero" jsonschema:"with -ext: slots in this state"`
}

// ClusterQueuesOf returns the document of some rows, with ext by all states.
func ClusterQueuesOf(rows []view.ClusterQueue, ext bool) ClusterQueues {
	return ClusterQueues{Queues: rowsOf(rows, func(q view.ClusterQueue) ClusterQueue { return clusterQueueOf(q, ext) })}
}

func clusterQueueOf(q view.ClusterQueue, ext bool) ClusterQueue {
	out := ClusterQueue{Name: q.Name, Load: known(q.Load), Used: q.Used, Reserved: q.Reserved,
		Available: q.Available, Total: q.Total,
		Temporary: q.Temporary, Manual: q.Manual}
	if ext {
		for n, field := range [...]**int{&out.Suspended, &out.SuspendAlarm, &out.Subordinate, &out.CalendarSuspend,
			&out.Unknown, &out.LoadAlarm,
			&out.Disabled, &out.CalendarDisabled, &out.Ambiguous, &out.Orphaned, &out.Error} {
			*field = new(q.ByState[n])
		}
	}
	return out
}
