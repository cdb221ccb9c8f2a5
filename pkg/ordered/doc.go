// Package ordered holds sorted collections with cheap copies: Map by a key, Set by an
// order of its items. Both are copy-on-write B-trees (github.com/tidwall/btree); Copy
// costs the same whatever the size, and a copy and its original can be changed without
// each other's knowledge.
//
// They are interfaces so that the trees are compiled once, where NewMap or NewSet is
// called. A struct with a generic tree in it is compiled with all methods of the tree
// again in every package that knows the struct; state.State and sched.Cluster are known
// nearly everywhere, and their trees were most of what the compiler worked on.
//
// The package must not know what is kept in it. None of its collections is safe for
// concurrent use. To add a method: to the interface and to the tree that implements it.
package ordered
