// Package problem is the errors of the HTTP API as RFC 9457 has them: a type, which programs compare and which is never
// renamed, a status, a text, and the field of the request that is wrong.
//
//	qmaster's answers ──▶ OfReply ─┐
//	no answer ──▶ Unreachable ─────┼──▶ *huma.ErrorModel ──▶ huma, or Refuse for what is answered outside of it
//	a field ──▶ Invalid ───────────┤
//	fair.Full ──▶ NoPlace ─────────┘
//	huma's own errors ──▶ AddType ──▶ the same, with a type and a location
//
// The package must not know routes, sessions or the state of the cell, and makes no text that a page shows otherwise:
// the console has its own form of a problem.
//
// To add a type: a constant with its status, and its row in the chapter api of the manual.
package problem
