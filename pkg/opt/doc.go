// Package opt makes programs of Grid Engine's option tables (pkg/switches): help, usage errors, answers, exit statuses,
// signals.
//
//	switches.Command[T] ─▶ App ─▶ help, usage errors, exit status (urfave/cli carries app and help)
//	gdi.Reply ─▶ Env.Print, Env.Results ─▶ stdout, stderr, exit status
//	Env ─▶ Origin ─▶ pkg/submit
//
// Files, in the order to read them: env.go (what a command uses of its process), app.go (a table as a program), main.go
// (a program as a process), menu.go (several programs in one, quill), files.go (files of default options), printable.go
// (output that is safe for a terminal). Shared by several commands: hold.go (qhold and qrls), results.go (answers as
// text or JSON), moment.go (a position in the log).
//
// urfave/cli frames a program (app, flag table, help template) but never reads Grid Engine's words: see pkg/switches.
//
// The package must not know what a switch means: that is in the command's table, for jobs in pkg/submit.
//
// To add a command: a table (switches.Command), and a Run in tools/ge/qNAME or beside the commands that it belongs to
// (tools/ge/jobs, tools/ge/reservation); what two packages share of options goes to pkg/switches, of printing here.
package opt
