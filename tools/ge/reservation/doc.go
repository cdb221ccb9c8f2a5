// Package reservation is Grid Engine's commands that make, delete and list advance reservations.
//
//	qrsub.go            sge_ar_request, .sge_ar_request, command line ─▶ grid.AR ─▶ gdi.Reserve ─▶ answers
//	qrdel.go            command line ─▶ gdi.DeleteARs ─▶ answers
//	qrstat*.go          sge_qrstat, .sge_qrstat, command line ─▶ gdi.Get ─▶ view.View ─▶ list | detail | XML | JSON
//
// The package must not know whether a reservation fits or who may delete one: qmaster decides; pkg/view has the rows of
// lists. To add a switch: of qrsub a row in submit.Qrsub and a field of grid.AR, of qrdel a row in deleteCommand and a
// field of gdi.DeleteARs. To add a field: its line in the printers of the list, the detail and XML, and a member of
// document.Reservation.
package reservation
