package pattern

import "strings"

// QueuePattern is a compiled wc_queue of sge_types(1): cluster queues ("a*&!adam"),
// queue instances ("*@b*|c*") or queue domains ("*@@sol*"). Nothing before the
// at-character stands for all cluster queues.
type QueuePattern struct{ queue, host, groups Expression }

// CompileQueue reads a wc_queue.
func CompileQueue(text string) QueuePattern {
	queue, where, at := strings.Cut(text, "@")
	if queue == "" && at {
		queue = "*"
	}
	q := QueuePattern{queue: Compile(queue, false)}
	switch {
	case strings.HasPrefix(where, "@"):
		q.groups = Compile(where, false)
	case at:
		q.host = Compile(where, false)
	}
	return q
}

// MatchCQueue reports whether instances of the cluster queue may be meant.
func (q *QueuePattern) MatchCQueue(queue string) bool { return q.queue.Match(queue) }

// Match reports whether a queue instance is meant. in reports whether the host is in
// one of the host groups that an expression describes.
func (q *QueuePattern) Match(queue, host string, in func(groups Expression, host string) bool) bool {
	switch {
	case !q.queue.Match(queue):
		return false
	case q.groups.root != nil:
		return in(q.groups, host)
	}
	return q.host.root == nil || q.host.Match(host)
}
