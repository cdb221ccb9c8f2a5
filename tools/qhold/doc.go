// Package qhold is qhold(1): it sets holds of jobs that are not finished. It is
// qalter with nothing but -h.
package qhold
