// Package opt is the option language of Grid Engine's commands, once for all
// of them: one table of switches per command, what their words mean, and how
// help, usage errors and answers are printed.
//
//	words ─▶ Command[T].Parse ─▶ T      one table: switch, arguments, help, what it sets
//	         Command[T].App   ─▶ help, usage errors, exit status (urfave/cli carries app and help)
//	T = Submission ─▶ qsub, qalter, qrsh, qlogin: request files, #$ lines and the command line make one grid.Job
//	Template ─▶ T: what a DRMAA job template says in the words of qsub
//	gdi.Reply ─▶ Env.Print ─▶ stdout, stderr, exit status
//	grid.Job ─▶ Wish, Corrected ─▶ grid.Job: as a submission verifier sees and changes it
//
// Files, in the order to read them: command.go (the table and how words are read),
// app.go (as a program), main.go (as a process), menu.go (the programs of several
// commands, quill), env.go (where a command runs), legend.go (what the words in help
// mean), files.go (request files). Of jobs: submission.go, jobswitches.go and
// jobvalues.go (the table and what its switches do), qsub.go, qalter.go, qrsh.go,
// hold.go, jobs.go (job_task_list), template.go (a job template of DRMAA).
// Values that several commands read: list.go, ranges.go, time.go, moment.go (a
// place in the log), binding.go. Of verifiers: params.go, paramvalues.go.
//
// What a verifier is told and may change, params.go, stands here because a
// parameter is a switch under another name: its value is read by the switch's
// own row, whether the verifier is qsub's or qmaster's.
//
// urfave/cli frames the program (app, flag table, help template) but never
// reads the words: switches take several words (-pe mpi 4-8), their order
// matters (-hard, -soft), and the same language stands in scripts.
//
// The package must not know what qmaster makes of a wish: names and values
// that only the cluster can judge are passed on as written.
//
// To add a switch: one row in the command's table. A switch of the manual
// page that is not supported gets a row with Refused, so that it is never
// taken for something else or ignored. One that verifiers may see has a row among
// the params, too.
package opt
