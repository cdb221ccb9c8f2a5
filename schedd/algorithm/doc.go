// Package algorithm is the contract between the scheduler's framework and its
// algorithms, after Grid Engine's four layers:
//
//	layer 0  schedd        register, mirror, run, order, wait      (shell)
//	layer 1  Model         what an algorithm stores of events       \ an Entry
//	layer 2  Decider       the orders, decided on a copy             / pairs them
//	layer 3  pkg/sched     does it fit, where, and why not
//
// A Model is an events.Sink whose Copy costs next to nothing. A Decider sees
// the copy, the time and nothing else, and yields orders one by one, so that
// layer 0 can send the first ones while it still decides. Both are pure:
// the same events and the same Run give the same orders. schedd decides on a
// copy; a simulation, whose runs are over before the next event, may have a Model
// that is a Lender decide without one: AtOnce, see couple.Couple.Lend.
//
// To add an algorithm: a folder beside roundrobin with an Entry made by Pair,
// and one line in schedd/algorithm/shipped/shipped.go. README.md shows how, step by step.
// Take schedd/model as the Model or bring your own; algorithmtest checks the
// laws.
//
// The package must not know any algorithm, nor how schedd is connected to qmaster.
package algorithm
