// Package qrdel is qrdel(1): it deletes advance reservations and their jobs.
package qrdel
