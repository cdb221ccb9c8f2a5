// Package reservation is Grid Engine's commands that make and delete advance reservations.
//
//	qrsub.go  sge_ar_request, .sge_ar_request, command line ─▶ grid.AR ─▶ gdi.Reserve ─▶ answers
//	qrdel.go  command line ─▶ gdi.DeleteARs ─▶ answers
//
// The package must not know which reservations exist, whether one fits or who may delete one: qmaster decides. To add
// a switch: of qrsub a row in submit.Qrsub and a field of grid.AR, of qrdel a row in deleteCommand and a field of
// gdi.DeleteARs.
package reservation
