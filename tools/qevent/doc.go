// Package qevent prints the event stream as it happens: a line for each event,
// and on request the full state that it starts from.
//
//	client.Watch ──events.List──▶ printer ──events.Text──▶ stdout
//
// The package must not know what events mean; it chooses and prints.
package qevent
