// Package qrstat is qrstat(1): advance reservations as a list, one by one in
// full (-ar), and as XML.
//
//	sge_qrstat, .sge_qrstat, command line ─▶ gdi.Get of the ARs ─▶ view.View ─▶ list | detail | XML
package qrstat
