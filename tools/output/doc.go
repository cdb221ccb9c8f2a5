// Package output is `quill output`: it prints an output file of a task, which its host reads as the owner of the job.
//
//	client.Output ── gdi.Output ──▶ qmaster ──▶ execd ──▶ part ──▶ stdout as it is, or JSON of pkg/document
//
// The package must not decide which user may read what (qmaster/core), nor where the file is (execd).
//
// To add an option: a flag in Command, and its effect on gdi.Output or in show.
package output
