// Package manual holds Quill's manual and shows it: `quill manual` lists chapters
// and manual pages, `quill manual schedule` and `quill manual qsub` show one.
//
//	*.md     ─▶ Chapters ─▶ list, or one chapter in a pager
//	man/*.md ─▶ Pages ─▶ go-md2man ─▶ man, or files for `make install`
//
// A manual page is man/NAME.md. tools/quill checks that it has the options of the
// command, no more and no fewer.
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
