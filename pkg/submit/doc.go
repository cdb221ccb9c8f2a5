// Package submit makes a job of Grid Engine's submit options: those of the command line, of request files, of the #$
// lines of a script, of a DRMAA job template, and of what submission verifiers change. qsub, qrsh, qlogin, qalter,
// DRMAA and qmaster read jobs through it and through nothing else.
//
//	Qsub(Origin) ─▶ switches.Command.Parse ─▶ Submission ─▶ Complete ─▶ Verified ─▶ grid.Job     what is submitted
//	                                                    ─▶ Alter ─▶ gdi.Alter                    what qalter changes
//	Template ─▶ Submission                              a DRMAA job template as options of qsub
//	grid.Job ─▶ JSVJob, Corrected ─▶ grid.Job             as a submission verifier sees and changes it
//
// An Origin is all that a submission reads of its process: variables, directory, standard input, clock. Files are read
// (request files, aliases, the script); nothing is printed, and no command-line library is used.
//
// The parameters that a verifier sees and may change (params.go) are part of this package
// because a parameter is a switch under another name: its value is read by the row of the
// switch, whether the verifier is qsub's or qmaster's.
//
// The package must not know what qmaster makes of a job: names and values that only the cluster can judge are passed on
// as written.
//
// Files, in the order to read them: submission.go (the result, and the order of the sources), options.go and
// optionvalues.go (the table of submit(1) and what its switches do), qsub.go, qalter.go, qrsh.go (what each command
// adds), legend.go (the words in help), qrsub.go (advance reservations), template.go (DRMAA), aliases.go
// (sge_aliases(5)), binding.go, describe.go (-verify). Verifiers: params.go, paramvalues.go, verified.go.
//
// To add a switch: one row in submitTable (options.go). One that verifiers may see has a row in params, too.
package submit
