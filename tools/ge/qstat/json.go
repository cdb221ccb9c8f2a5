package qstat

import (
	"fmt"
	"iter"

	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/view"
)

// write writes a document: -fmt json.
func (p *printer) write(d document.Document) int { return p.env.Document(d) }

// missing returns that references stand for no job.
func missing(unknown []string) (r gdi.Reply) {
	for _, ref := range unknown {
		r.Answers = append(r.Answers, gdi.Deny(gdi.StatusUnknown, fmt.Sprintf("job %q does not exist", ref)).On(
			gdi.JobNamed(ref)))
	}
	return r
}

// document is qstat and qstat -f as a document.
func (p *printer) document(queues []view.Queue) document.Document {
	show := document.JobShow{Ext: p.ext, Urg: p.urg, Pri: p.pri, InQueue: p.queues(), Binding: !p.noBinding, View: p.view}
	var finished iter.Seq[*view.Job]
	if p.states&view.JobsFinished != 0 {
		finished = p.list.Finished()
	}
	if !p.queues() {
		return document.JobsOf(show, p.list.Running(), p.list.Waiting(), finished)
	}
	parts := document.QueueShow{LoadAlarm: p.loadAlarm, SuspendAlarm: p.suspendAlarm, Messages: p.messageLines,
		Jobs: p.list.RunningIn}
	if p.resources {
		parts.Resources = func(q *view.Queue) []view.Resource { return p.view.QueueResources(q, p.names) }
	}
	return document.QueuesOf(parts, show, p.shown(queues), p.list.Waiting(), finished)
}

// shown are the queue instances without those that -ne hides.
func (p *printer) shown(queues []view.Queue) iter.Seq[*view.Queue] {
	return func(yield func(*view.Queue) bool) {
		for n := range queues {
			q := &queues[n]
			if (!p.noEmpty || q.Used > 0 || p.list.Busy(q.Name())) && !yield(q) {
				return
			}
		}
	}
}
