// Package qdel is qdel(1): it asks qmaster to delete jobs and prints what
// became of each.
//
// Which jobs exist, and whether the user may delete them, qmaster knows.
//
// The package must not know which jobs exist or who has permission to delete them. To add a switch: a
// row in command, and a field of gdi.DeleteJobs.
package qdel
