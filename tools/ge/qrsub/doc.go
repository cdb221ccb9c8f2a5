// Package qrsub is qrsub(1): advance reservations.
//
//	sge_ar_request, .sge_ar_request, command line ─▶ grid.AR ─▶ gdi.Reserve ─▶ answers
//
// The package must not know whether a reservation fits. To add a switch: a row in
// submit.Qrsub, and a field of grid.AR.
package qrsub
