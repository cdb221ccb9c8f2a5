// Package sim is `quill sim`: it tries scheduling policies on a workload log
// before users feel them.
//
//	options ─▶ variants ─▶ tools/simulator/workload, one replay each ─▶ table, pictures, files
//
// It knows options and files; it must not know how a log is replayed.
//
// To add a figure: see tools/outcome. To add an option that makes variants: see
// simVariants.
package sim
