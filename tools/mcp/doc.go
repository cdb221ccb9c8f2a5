// Package mcp serves the cell to language models and other agents by the Model Context Protocol: `quill mcp`.
//
//	stdio ─────────────┐                       ┌─ read.go      list, why, history, expected_start: rows of pkg/view, tools/jobstory, tools/outlook
//	HTTP, token of each┴─▶ session ─▶ tools ───┼─ simulate.go  tools/whatif on the recorded last day
//	request                │                   └─ propose.go   gdi.Propose: a person approves, never this package
//	                       └─ pkg/client with the credentials of the user
//
// No tool changes anything: propose stores a proposal, which `quill approve` carries out. What other users have written
// (names, output, comments) stands in structured fields only, control characters replaced, after a notice that it is
// data.
//
// The package must not have rights of its own, nor decide what fits or what is allowed.
//
// To add a tool: its input and output types and a method of session, and a line in server.go.
package mcp
