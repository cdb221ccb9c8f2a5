// Package qstat lists jobs and queues: qstat(1), and qselect(1), the half of it that chooses queue instances.
//
//	words ─table─▶ options ─▶ one Get ─▶ view.Jobs, view.View ──rows──▶ table | xml | document
//
// One Get brings everything from one moment. Rows are printed as they are made: a
// hundred thousand pending jobs are listed in a few dozen megabytes.
//
// Files: options.go, qstat.go (Run), queues.go (-f, -g c), table.go (columns and
// lines), requests.go (-r), job.go (-j), xml.go, xmljob.go (the same as XML),
// json.go (the same as a document of pkg/document); qselect.go; queueoptions.go
// (how both choose queue instances).
//
// The package must not know how objects travel, nor how rows are made: pkg/view
// does. It decides nothing about jobs.
//
// To add a column: a field of a row in pkg/view, a line in columns (table.go),
// its element in xml.go and a member of document.Job. To add an option that chooses
// queue instances: a row in queueSwitches, named by the tables of both commands.
package qstat
