// Package qrdel is qrdel(1): it deletes advance reservations and their jobs.
//
// The package must not know which reservations exist or who has permission to delete them. To add a
// switch: a row in command, and a field of gdi.DeleteARs.
package qrdel
