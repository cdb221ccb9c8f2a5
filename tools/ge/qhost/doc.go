// Package qhost shows execution hosts with their load, queues, jobs and
// resources, qhost(1).
//
//	Get ─▶ state.State ─▶ view.View ─▶ hosts, resources, queues, jobs ─▶ text | XML | JSON
//
// The package must not know how values are derived: pkg/view does.
//
// To add a column or a resource: a field of view.Host, its place in the text and
// XML printers, and a member of document.Host.
package qhost
