// Package qhold is qhold(1): it sets holds of jobs that are not finished. It is
// qalter with nothing but -h.
//
// The package must not know which holds are permitted. To add a switch: a row in
// opt.HoldCommand, which qrls shares.
package qhold
