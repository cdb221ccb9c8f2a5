// Package diff says what changed in an object, field by field: the same words
// in qevent, in the terminal view of quill replay and wherever else two
// versions of an object are held against each other.
//
//	object before ─┐
//	               ├─ Objects ─▶ []Change{Field, Old, New}
//	object after  ─┘
//	state before + events.List ─ List ─▶ the changes of each event
//
// Objects with a text of attributes (pkg/conf) are compared attribute by
// attribute, under the names of the manual pages; of all others each field of
// the struct is one, named in small letters. A new kind needs nothing here.
//
// The package must not know what a change means nor how it is shown. Pure.
//
// To compare a kind by the words of a manual page: give it a text of attributes in
// pkg/conf.
package diff
