// Package qhost shows execution hosts with their load, queues, jobs and
// resources, qhost(1).
//
//	Get ─▶ state.State ─▶ view.View ─▶ hosts, resources, queues, jobs ─▶ text | xml
//
// The package must not know how values are derived: pkg/view does.
//
// To add a column or a resource: a field of view.Host, and its place in the text and
// XML printers.
package qhost
