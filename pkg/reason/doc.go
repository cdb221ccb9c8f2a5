// Package reason is the vocabulary of what keeps a task from starting: one code for each kind of
// obstacle, with its name, the reason that Slurm has for it, Grid Engine's messages and what removes it.
//
// A Reason is data: schedd finds it, it travels in orders and events, and String makes the line of qstat -j of it.
// What more there is to say about one (who holds what is short, until when) is added by package explain, which asks
// the fit. No other package has such sentences.
//
// A code is an interface: its number is part of the stored format and its name of JSON. It is never given another
// meaning, and never reused.
//
// To add one: a constant at the end of its list, and its line in the table (table.go). The package must not know
// objects of the cell: reasons name them.
package reason
