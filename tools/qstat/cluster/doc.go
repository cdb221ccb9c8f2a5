// Package cluster is the cluster as listings show it: queue instances with
// their resolved attributes, load, slots in use and resources, for qstat(1),
// qhost(1) and qselect(1).
//
//	client.Get ──objects──▶ Cluster.Add ──▶ Instances ──Select──▶ rows
//
// Everything derived stands here once: alarm and unknown states from the
// host's load, slots and consumables in use from the tasks' grants, and which
// of the levels global, host and queue decides a resource (dominance).
//
// The package must not know how anything is printed beyond single values, nor
// where objects come from. It is pure.
//
// To add a queue attribute that can be requested: a line in queueLimits.
package cluster
