// Package queueoptions has the options by which qstat and qselect choose queue instances, so that both read them alike.
// What a choice means is in pkg/view. To add an option: a row in Table, named by the tables of both commands.
//
// The package must not know qstat or qselect: each passes where it stores the choice.
package queueoptions
