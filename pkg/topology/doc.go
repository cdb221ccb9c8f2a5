// Package topology describes the processors of a host as a tree and chooses units of it for jobs.
//
//	N NUMA node, S socket            NSXYCTTYCTTXYCTTYCTT
//	  X cores that share an L3 cache │││││││
//	    Y cores that share an L2     ││││││└ second thread of the first core
//	      C core, E efficiency core  │││││└ ...
//	        T thread                 NUMA node 0, socket 0, ...
//
// A host has one order of its threads: socket by socket, and within these by NUMA node, caches and
// core. A Set is some of them. A topology string is the tree in this order; lower case marks a set:
// what is in use, what a task has, what a filter forbids. Grid Engine 8.1.9 writes sockets, cores and
// threads only (Machine.Classic); both spellings are read.
//
//	what the kernel says ─▶ Build ─┐
//	topology string ──────▶ Parse ─┴▶ Machine ─┬─ Text, Classic, Mask   strings and sets
//	                                           ├─ Count                 how many units are free
//	                                           └─ Choose                which ones a task gets, near its devices
//
// The package must not know files, jobs or the cluster. execd builds a Machine from its files, the
// scheduler parses what execd reports. To add a level: a letter in letters, an id in Core, a case in
// Core.at, and the fallback for hosts that do not report it in Machine.complete.
package topology
