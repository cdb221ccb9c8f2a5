// Package bustest gives tests what they can break: file systems of their own,
// small enough to be filled or mounted where no other process sees it, and ways to a
// server that are cut or fall silent.
//
// The package must not know pkg/bus: its tests import this one. To add a fault: a type
// with a constructor that takes the test and undoes all at its end.
package bustest
