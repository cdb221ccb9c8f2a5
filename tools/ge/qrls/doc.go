// Package qrls is qrls(1): it removes holds of jobs that are not finished. It is
// qalter with nothing but -h.
//
// The package must not know which holds are permitted. To add a switch: a row in
// opt.HoldCommand, which qhold shares.
package qrls
