// Package qrstat is qrstat(1): advance reservations as a list, one by one in
// full (-ar), as text, XML or JSON.
//
//	sge_qrstat, .sge_qrstat, command line ─▶ gdi.Get of the ARs ─▶ view.View ─▶ list | detail | XML | JSON
//
// The package must not know how reservations are checked: pkg/view has the rows. To add
// a field: its line in the printers of the list, the detail and XML,
// and a member of document.Reservation.
package qrstat
