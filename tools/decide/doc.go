// Package decide runs the deciders again on the states that were, and holds what
// they order against what was recorded: quill replay --decide.
//
//	Past ── Full, Lists ──▶ algorithm.Algorithm, fed as schedd feeds it
//	   │                        │ Begin at each recorded run's Seq, with its Run
//	   │                        ▼
//	   └─── Runs ─────────▶ the same orders, to the last? ──▶ Report
//
// A decider is pure: the same events and the same Run give the same orders. So a
// difference means that the recording is not of this log, that this program's
// algorithm is another than the one that decided, or that an algorithm keeps
// something from run to run that no event contains, and that is a bug.
//
// It knows what schedd does with an algorithm between two runs. It must not know
// any algorithm, nor how a log is stored.
//
// To add something that is compared: a field of Report, filled where the orders are
// compared.
package decide
