// Package qhold is qhold(1) and qrls(1): they set and remove holds of jobs that are
// not finished. Each is qalter with nothing but -h.
//
// The package must not know which holds are permitted. To add a switch: a row in
// newCommand.
package qhold
