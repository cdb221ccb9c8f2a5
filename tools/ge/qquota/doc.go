// Package qquota is qquota(1): what is used of resource quotas.
//
//	sge_qquota, .sge_qquota, command line ─▶ gdi.Get of sets, hosts, queues, what runs ─▶ view.View ─▶ table | XML | JSON
//
// The package must not know how quotas are counted: pkg/view and pkg/sched do. To add a
// filter: a row in command and a field of view.QuotaFilter.
package qquota
