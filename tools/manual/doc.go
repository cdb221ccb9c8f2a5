// Package manual holds Quill's manual: `quill manual`, in tools/quill-lab/lab, lists chapters
// and manual pages, `quill manual schedule` and `quill manual qsub` show one.
//
//	*.md     ─▶ Chapters ─▶ list, or one chapter in a pager
//	man/*.md ─▶ Pages ─▶ go-md2man ─▶ man, or files for `make install`
//	schemas/*.json ─▶ Schemas ─▶ list, or one schema; made from pkg/document by its tests
//
// A manual page is man/NAME.md and a link in README.md. tools/quill checks that a page
// of section 1 or 8 has the options of its command, and one of section 5 the attributes
// and defaults of its file, no more and no fewer (TestManualPages, TestCommandPages,
// TestFilePages). An attribute is the bold name of a term of a definition list: **slots**
// *number*, default 1.
//
// NAME, SYNOPSIS, COMMANDS and OPTIONS of the pages of quill's commands, quill-up(1) and
// so on, are made from their help: go test ./tools/quill -run TestCommandPages -update.
// The rest is written. A test runs the lines of their examples that begin with "$ "
// (TestExamples); those of another user or of root on an installed host begin with
// "alice$ " and "root# ".
//
// README.md is the table of contents: a chapter is a file beside it and a line in
// its table. The fenced blocks of a chapter say how they are checked:
//
//	```sh        runs in a test, tools/quill: TestManual
//	```sh WORD   runs elsewhere: WORD is in the table of TestManual, with the reason and the place
//	```          output, or the contents of a file; commands only after a prompt: $ qstat
//
// The package must not know any other package of the cell: it is text.
//
// To add a chapter or a page: its file, and a line in README.md.
package manual
