package qstat

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// requestLines describes what the row's job asked for: qstat -r.
func (p *printer) requestLines(r *row) string {
	j := r.job
	var b strings.Builder
	line := func(title, text string) { fmt.Fprintf(&b, "       %-17s %s\n", title, text) }
	line("Full jobname:", j.Name)
	if r.queue != "" {
		line("Master Queue:", r.queue)
	}
	if j.PE != "" {
		line("Requested PE:", j.PE+" "+j.PERange.Slots(grid.SlotsEnd))
		if r.queue != "" {
			line("Granted PE:", fmt.Sprintf("%s %d", r.task.PE, r.task.Slots()))
		}
	}
	if j.Ckpt != "" {
		line("Checkpoint Env.:", j.Ckpt)
	}
	title := "Hard Resources:"
	for _, q := range j.Hard {
		line(title, fmt.Sprintf("%s=%s (%s)", q.Name, p.value(q), p.contribution(r, q)))
		title = ""
	}
	if title != "" {
		line(title, "")
	}
	title = "Soft Resources:"
	for _, q := range j.Soft {
		line(title, q.Name+"="+p.value(q))
		title = ""
	}
	if title != "" {
		line(title, "")
	}
	list := func(title string, names grid.Names) {
		if len(names) > 0 {
			fmt.Fprintf(&b, "       %s %s\n", title, strings.Join(names, ", "))
		}
	}
	list("Hard requested queues:", j.HardQueues)
	list("Soft requested queues:", j.SoftQueues)
	list("Master task hard requested queues:", j.MasterQueues)
	list("Predecessor Jobs (request):", j.PredecessorReq)
	list("Predecessor Jobs:", ids(j.Predecessors))
	list("Predecessor Array Jobs (request):", j.ArrayPredecessorReq)
	list("Predecessor Array Jobs:", ids(j.ArrayPredecessors))
	if !p.noBinding {
		line("Binding:", j.Binding.String())
	}
	return b.String()
}

// value prints a request as Grid Engine keeps it: times in seconds, the rest
// as given.
func (p *printer) value(q grid.Request) string {
	if c := p.cluster.Centry(q.Name); c != nil && c.Type == "TIME" {
		if s, ok := grid.ParseTimeSpan(q.Value); ok && s < grid.Infinity {
			return strconv.FormatInt(int64(s), 10)
		}
	}
	return q.Value
}

// contribution is what a request adds to the job's urgency: urgency of the
// attribute times value times slots (sge_priority(5)).
func (p *printer) contribution(r *row, q grid.Request) string {
	v := 0.0
	if c := p.cluster.Centry(q.Name); c != nil {
		urgency, _ := strconv.ParseFloat(c.Urgency, 64)
		n, _ := c.Type.Parse(q.Value)
		v = urgency * n * float64(r.entry.slots)
	}
	return strconv.FormatFloat(v, 'f', 6, 64)
}

func ids(list []uint32) (out grid.Names) {
	for _, id := range list {
		out = append(out, strconv.FormatUint(uint64(id), 10))
	}
	return out
}
