// Package site is the configuration of a cell as scheduling needs it: what does not change in a scheduling run.
//
//	state.State ─▶ NewLayout ─▶ Layout   hosts, queue instances with their attributes for their host, PEs, usersets,
//	                                     quota rules, resource maps, topologies, the scheduler's policy
//
// Names are replaced by indices, per-host attributes resolved, texts parsed. A Layout is made anew when the
// configuration changes and is shared by all copies of a Cluster: nothing in it is ever written once it is made. That
// of an advance reservation (reserved.go) is made of what is granted to it.
//
// The package must not know what is in use, when, or whether a job fits: that is pkg/sched, which reads it.
//
// To add what a queue or host may be configured with: a field of Instance or Host, set where instances are made in
// layout.go. To add a parameter of the scheduler: a field of the policy.
package site
