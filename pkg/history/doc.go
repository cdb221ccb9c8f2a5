// Package history reads the log back: what happened, in order, and the state at
// any Seq.
//
//	Source ── a running cell (its qmaster is asked) ┐
//	          a stopped cell's directory, or a copy ├─ Open ─▶ Log ── Lists, Runs, SeqAt, Info
//	          an exported file                      ┘           │
//	                                                            ├─ Player ── the state at any Seq
//	                                                            └─ Export ── a stretch as one file
//
// A Log is made of archives (archive.Archive: segments, exported files, a copy of the
// stream's end), within a cell of windows on its streams (bus.StreamView), and of full states
// to start from (snapshots). Nothing of the source is changed. Damage is reported with
// its position; all lists before it are returned.
//
// Decode is the one way from frames to lists; qmaster recovers with it, too.
//
// Files: source.go (which log), log.go (Log and its lists), decode.go, runs.go
// (recorded orders), check.go (what there is, and whether it is whole), player.go over
// stretch.go (the state at any Seq), export.go and chunks.go (written again).
//
// The bytes of an exported file are described in tools/manual/formats.md, archives.
//
// It knows the formats of codec and bus. It must not know what lists mean, nor
// decide anything; it never writes to a cell.
//
// To add a source: a function that fills a Log with archives and states, and its
// line in Open.
package history
