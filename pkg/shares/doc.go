// Package shares has the arithmetic of priorities, sge_priority(5), share_tree(5)
// and sched_conf(5), without a scheduling algorithm.
//
//	UsagePolicy  half-lives and weights: how past usage decays and is combined   qmaster, Tree
//	Tree         targets of the share tree's nodes from shares and usage         ticket, sharelog, sge_share_mon
//	Urgency      resource, waiting time and deadline contributions               ticket, PendingPriority
//	Terms        npprior, nurg, ntckts and the priority that follows             ticket, PendingPriority
//	PendingPriority, RunningPriority   priorities as of the last run             qstat, quill why
//	CheckConfig  which parameters of priorities are invalid                      qmaster, ticket
//
// It knows the configuration and, of the state, the share tree and its usage. It
// must not know in which order jobs start or how tickets are divided among them:
// that is schedd/algorithm/ticket. To add a term of the priority: a field of
// Terms, its weight in Priority, and a case in priority_test.go.
package shares
