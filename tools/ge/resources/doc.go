// Package resources is Grid Engine's commands that list resources: what hosts have, and what is used of quotas and of
// the share tree.
//
//	qhost*.go   Get ─▶ state.State ─▶ view.View ─▶ hosts, resources, queues, jobs ─▶ text | XML | JSON
//	qquota.go   sge_qquota, .sge_qquota, command line ─▶ gdi.Get of sets, hosts, queues, what runs
//	            ─▶ view.View ─▶ table | XML | JSON
//	sharemon.go sge_share_mon(1): Get of tree, bookings, jobs ─▶ pkg/state ─▶ view.Shares ─▶ one line per node
//
// The package must not know how values are derived or how quotas are counted: pkg/view and pkg/sched do. Shares and
// their targets are those by which the scheduler decides and which the reporting file contains (sharelog).
//
// To add a column or a resource of hosts: a field of view.Host, its place in the text and XML printers, and a member of
// document.Host. To add a filter of quotas: a row in quotaCommand and a field of view.QuotaFilter. To add
// a field of shares: a line in reporting.ShareFields.
package resources
