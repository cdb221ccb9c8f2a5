// Package qconf shows and changes the configuration, qconf(1).
//
//	words ─table─▶ steps, run in order ─▶ session: Get ─▶ pkg/conf text ─▶ editor, file, stdout
//	                                               ├▶ pkg/document, with -fmt json
//	                                               └▶ Add, Modify, Delete ─▶ qmaster's answers
//
// One mechanism serves every kind: a family (families.go) says the stem of its
// switches and the few words in which Grid Engine speaks of it; show, list,
// add, modify and delete from editor, file or words follow. Modify always
// carries the version that was read: an attribute change is repeated on the
// newer object, with an editor it is an error.
//
// The share tree is one object, but its nodes have switches of their own
// (sharetree.go).
//
// The package must not know any rule about configuration (qmaster has them)
// nor its text (pkg/conf has it).
//
// Each switch shows something, changes something, or does so in an editor: with -fmt
// json (json.go) the first prints a document, the second the results, and the third is
// refused.
//
// To add a kind: nothing, if it has a row in grid.Kinds with a stem and a default; a line in
// families for what Grid Engine words in its own way.
package qconf
