// Package qquota is qquota(1): what is used of resource quotas.
//
//	sge_qquota, .sge_qquota, command line ─▶ gdi.Quotas ─▶ view.Quotas ─▶ table | XML
//	                             host groups, user lists ─┘
//
// The package must not know how quotas are counted: pkg/view and pkg/sched do. To add a
// filter: a row in command and a field of view.QuotaFilter.
package qquota
