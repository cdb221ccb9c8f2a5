// Package manual holds Quill's manual and shows it: `quill manual` lists the
// chapters, `quill manual schedule` shows one.
//
//	*.md ─▶ embedded ─▶ Chapters ─▶ list, or one chapter in a pager
//
// README.md is the table of contents: a chapter is a file beside it and a line in
// its table. The fenced blocks of a chapter say how they are checked:
//
//	```sh        runs in a test, tools/quill: TestManual
//	```sh vm     needs an installed cell; runs on a test machine (make vmtest)
//	```          output, or the contents of a file
//
// The package must not know any other package of the cell: it is text.
package manual
