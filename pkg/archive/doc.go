// Package archive has the log in files: snapshots, which bound recovery, and the history that is exported before the
// log is purged. It knows how these files are written whole or not at all, checked, compressed, found and given up. It
// must not know NATS, nor what a list or a chunk of a state says.
//
//	Snapshots ── full states at a Point of the log, in a Store: a directory, or a bucket of an external server (pkg/bus)
//	Segments ─── exported frames as files; states between them, from which history can be read; how much is kept
//	  └─ Writer, Archive ── the format of both, and of `quill log export`
//
// The bytes are described, and compared with the code, in tools/manual/formats.md.
//
// Files: snapshot.go, directory.go (files in a directory), segment.go, kept.go (states between segments, Trim),
// archive.go (the format). archivetest checks a Store.
//
// To add a kind of block: a Part in archive.go with its comment, a method of Writer, a line of the golden archive
// in the test, and its row in that chapter.
package archive
