// Package client is the library by which programs use qmaster: one request, one listing,
// one subscription to all events.
//
//	Connect, ConnectToken (in place of the own identity), ConnectGuest and ConnectCert (to log in)
//	        ─▶ Do     one request, one reply; repeated safely under one request id
//	        ─▶ Get    objects as they were at one Seq, streamed
//	        ─▶ Watch  full state, then every list; gaps are noticed and repaired
//	        ─▶ Order  for schedd: a run's orders, the result
//
// On qmaster's own host Do has a bus.LocalConn, everything else a bus.Conn; each is
// opened when it is needed.
//
// execd uses a bus.Conn of its own, see cell.Cell.ConnOptions.
//
// It opens the connection to the qmaster of a cell (pkg/cell), encodes and decodes. It
// must not know what a request means nor print anything: errors contain the texts that
// commands show when no qmaster can be reached.
//
// Files: client.go (what commands need), remote.go (Connect, Do and Get), unreachable.go (its error), watch.go,
// scheduler.go (Order).
//
// Start-up counts (qsub is a process per job), so nothing here is done before
// it is needed and no name is looked up.
//
// To add a request: none here, Do sends any gdi.Body. To add a way of reading: a method
// of Remote beside Get and Watch.
package client
