// Package command is `quill manual`: it lists the manual of tools/manual, shows a part of
// it in a pager and installs the pages.
//
// The package must not know what the manual says. To add an option: a flag in
// command.go.
package command
