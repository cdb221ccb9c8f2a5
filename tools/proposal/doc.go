// Package proposal has the commands for changes that are proposed by a program and carried out when a person approves:
// `quill proposals`, `quill approve`, `quill reject`, and `quill propose`, which proposes what another command would
// do.
//
//	quill propose -- qalter ... ─▶ client that proposes ─▶ gdi.Propose ─▶ qmaster: grid.Proposal
//	quill approve N             ─▶ shows it, asks       ─▶ gdi.Decide  ─▶ qmaster: the change, or why not
//
// The package must not decide whether a change is allowed, nor describe it: qmaster does both.
//
// To add a kind of request that may be proposed: gdi.Proposable.
package proposal
