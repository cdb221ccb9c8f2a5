// Package codec has the layouts in which objects, event lists and messages are sent and stored, written with pkg/wire.
//
//	events.List, grid.Object, gdi, orders, report ◀──▶ bytes
//
// Three rules make old and new programs understand each other:
//
//   - What is written often (jobs, tasks, loads, messages, the envelope of a
//     list) is an array of fields in a fixed order. A reader takes what it
//     knows, defaults what is missing and skips what is extra; so a field is
//     only ever added at the end, and never reused.
//   - Configuration is a map by field name: unknown names are ignored, missing
//     ones keep their zero value.
//   - An event's object is wrapped in a length, so that a list can be read
//     even when one of its objects cannot: it is set aside by name
//     (Unreadable), the rest is used.
//
// Each array layout is written once: the same function walks an object's
// fields for writing and for reading (wire.Coder).
// Which fields: objects.go, policy.go and values.go for objects, gdi.go, orders.go
// and report.go for messages; object.go and list.go put objects into lists.
// decoder.go shares equal values between decoded objects, listwriter.go cuts a full state
// into chunks.
//
// The envelope and the numbers of kinds are described in tools/manual/formats.md.
//
// The package must not know what objects mean or where bytes go.
//
// To add a field to an array kind: a line at the end of its function, and its golden
// bytes (go test -run Golden -update writes those of the current version). To add a
// configuration kind: the same without the line. The first change after a release also
// raises Version; the golden bytes of released versions stay, must stay readable, and
// are held by their sum in testdata/shipped, which make release notes.
package codec
