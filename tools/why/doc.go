// Package why is the command `quill why`: it finds the log and prints the story of a job
// that tools/jobstory derives from it.
//
// The package must not know what a log says about a job. To add an option: a flag in
// command.go.
package why
