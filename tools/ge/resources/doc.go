// Package resources is Grid Engine's commands that list resources: what hosts have, and what is used of quotas.
//
//	qhost*.go   Get ─▶ state.State ─▶ view.View ─▶ hosts, resources, queues, jobs ─▶ text | XML | JSON
//	qquota.go   sge_qquota, .sge_qquota, command line ─▶ gdi.Get of sets, hosts, queues, what runs
//	            ─▶ view.View ─▶ table | XML | JSON
//
// The package must not know how values are derived or how quotas are counted: pkg/view and pkg/sched do.
//
// To add a column or a resource of hosts: a field of view.Host, its place in the text and XML printers, and a member of
// document.Host. To add a filter of quotas: a row in quotaCommand and a field of view.QuotaFilter.
package resources
