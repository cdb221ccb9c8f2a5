// Package wire is the binary encoding of what is stored and sent: values as arrays of fields in msgpack.
//
//	layout func(*Coder, *T) ──▶ Writer ─▶ bytes
//	                        ◀── Reader ◀─ bytes
//
//	coder.go    Coder: one value in either direction; arrays of fields, errors, the memory that a message may take
//	fields.go   the kinds of fields: numbers, strings, lists, what is optional, what has its length in front
//	msgpack.go  the shapes of msgpack, and how a value of any shape is skipped
//
// A layout is one function for both directions: it opens an array, calls a function for each field in order, and closes
// the array. A reader takes what its layout has, leaves fields that are missing at the end zero, and skips those that
// are extra. So new fields go to the end, and none is removed.
//
// Bytes may come from anybody: memory for a length is reserved only when as many bytes are there, nesting is bounded,
// and so is the memory for elements that are smaller in the message than in memory.
//
// pkg/codec describes objects and messages with it, execd/shepherd its socket and journal. What is around such values,
// or around plain bytes, is a head of fixed size that the package which writes the file or the line puts there:
// pkg/frame, pkg/archive, the journal, tools/ge/qrsh/session.
//
// The package must not know which objects and messages there are, nor where bytes go.
//
// To add a kind of field: a function in fields.go that writes in one direction and reads in the other, and a field of
// it in the layout of wire_test.go, which the fuzz test uses.
package wire
