// Package documenttest compares what commands print with -fmt json with the JSON Schemas of
// the manual, and the schemas with the types of pkg/document. Only tests import it.
//
//	pkg/document types ─▶ Schema ─▶ tools/manual/schemas    written with -update
//	output of a command ─▶ Check ─▶ error
//
// The package must not know the commands. To add a document: see pkg/document.
package documenttest
