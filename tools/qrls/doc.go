// Package qrls is qrls(1): it removes holds of jobs that are not finished. It is
// qalter with nothing but -h.
package qrls
