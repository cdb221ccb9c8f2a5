// Package cell is what qmaster's decisions look at: the state at one moment, what follows from
// its configuration, and look-ups in it.
//
//	State ─┬─▶ Cluster    what is used and free (pkg/sched)
//	       └─▶ Settings   the configuration, read once; of each host: HostSettings
//
// One file per subject: cell.go, settings.go (the configuration, and queues as they are on a
// host), lookup.go and matching.go (objects by name and by pattern), selection.go (the jobs that
// a request names), rights.go (managers, operators, owners), tasks.go (started tasks, PE tasks
// and their records), waiting.go (what jobs wait for), usage.go (usage as it is charged).
//
// The package must not know the request, and it changes nothing: no method makes an event.
//
// To add a parameter of the configuration: a field of Settings or HostSettings. To add a
// look-up that more than one decision needs: a method in the file of its subject.
package cell
