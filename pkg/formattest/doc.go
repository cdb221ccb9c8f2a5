// Package formattest compares the manual's chapter on file formats with the bytes that the code writes, so that the
// chapter cannot go stale.
//
//	tools/manual/formats.md ─▶ Page ─▶ Table     the cells of a table below a heading
//	                                ├▶ Block     a fenced block below a heading
//	                                └▶ Layout    a record, field by field, compared with bytes
//
// It knows how the tables of the chapter are laid out. It must not know any format: the test of the package that writes
// a file gives the bytes and what the fields must be. Only tests import it.
//
// To describe another format: a heading with a table "offset | size | field | contents" in the chapter, and a test of
// the package that calls Layout.
package formattest
