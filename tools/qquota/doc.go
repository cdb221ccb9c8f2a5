// Package qquota is qquota(1): what is used of resource quotas.
//
//	sge_qquota, .sge_qquota, command line ─▶ gdi.Quotas ─▶ view.Quotas ─▶ table | XML
//	                             host groups, user lists ─┘
package qquota
