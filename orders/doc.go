// Package orders defines what a scheduler may request of qmaster.
//
// A run of the scheduler ends in one List of orders; qmaster checks each of
// them against its newest state, turns it into events or refuses it with a
// reason, and answers the list with an Answer. An order list changes nothing
// by itself.
//
//	Decider.Decide ─▶ List ─▶ core.Step ─▶ events
//	       ▲                      │
//	       └── mirror ≥ Answer.Seq ┘  before the next run
//
// README.md is the protocol: the order types, their checks, the refusals.
// To add a type: a struct with its methods and its row in types, its layout in
// pkg/codec, a method in qmaster/core/orders.go, a row of the README.
//
// The package must not know how orders are decided, nor what qmaster makes of them.
package orders
