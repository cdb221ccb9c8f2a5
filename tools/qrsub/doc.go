// Package qrsub is qrsub(1): advance reservations.
//
//	sge_ar_request, .sge_ar_request, command line ─▶ grid.AR ─▶ gdi.Reserve ─▶ answers
package qrsub
