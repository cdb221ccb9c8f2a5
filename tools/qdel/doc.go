// Package qdel is qdel(1): it asks qmaster to delete jobs and prints what
// became of each.
//
// Which jobs exist, and whether the user may delete them, qmaster knows.
package qdel
