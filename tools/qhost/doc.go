// Package qhost shows execution hosts with their load, queues, jobs and
// resources, qhost(1).
//
//	one Get ─▶ cluster.Cluster ─▶ hosts ─▶ text | xml
//
// The package must not know how values are derived: tools/qstat/cluster does.
package qhost
