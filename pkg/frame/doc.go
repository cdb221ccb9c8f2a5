// Package frame is the form of the event log: a Frame is what one append writes, and each names the one before by its
// hash. The package knows how frames are written as bytes and checked in sequence. It is pure: pkg/bus appends and
// reads frames over NATS, pkg/archive has them in files. It must not know what a list says: payloads are opaque.
//
//	lists First..Last ─▶ Frame ─▶ Append ─▶ bytes
//	bytes ─▶ Reader.Take ─▶ Frame, checked, parts of one list joined   or *Damage
//
// The bytes are described, and compared with the code, in tools/manual/formats.md.
//
// Files: point.go (Epoch, Hash, Point: a position in the log), frame.go (the bytes of a frame), reader.go (the
// sequence).
//
// To change the layout: raise the version in the magic, keep reading every version that was released, and describe the
// new one in that chapter.
package frame
