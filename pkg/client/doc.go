// Package client is how every other program speaks with qmaster: one request,
// one listing, one subscription to all that happens.
//
//	Connect ─▶ Do     one wish, one reply; repeated safely under one request id
//	        ─▶ Get    objects as they were at one Seq, streamed
//	        ─▶ Watch  full state, then every list; gaps are noticed and repaired
//	        ─▶ Order  schedd's end: a run's orders, the verdict
//
// On qmaster's own host Do has a bus.Line, everything else a bus.Conn; each is
// opened when it is needed.
//
// execd speaks with qmaster over a bus.Conn of its own; Cell.ConnOptions says
// where.
//
// It finds the cell, opens the connection, encodes and decodes. It must not
// know what a request means nor print anything: errors carry the texts that
// commands show when no qmaster can be reached.
//
// Files: cell.go (where the cell is), connect.go (as whom, how), client.go (what
// commands need), remote.go (Do and Get), watch.go, scheduler.go (Order).
//
// Start-up counts (qsub is a process per job), so nothing here is done before
// it is needed and no name is looked up.
package client
