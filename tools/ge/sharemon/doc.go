// Package sharemon is sge_share_mon(1): it prints what everybody in the share
// tree is entitled to, has used and should get next.
//
//	Get tree, bookings, jobs ─▶ pkg/state ─▶ view.Shares ─▶ one line per node
//
// It shows what the scheduler decides by and the reporting file contains (sharelog):
// usage and targets are computed by the same code. It must not know how they are computed, only how they are printed.
//
// To add a field: one line in reporting.ShareFields.
package sharemon
