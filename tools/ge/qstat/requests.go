package qstat

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

// requestLines describes what the row's job asked for: qstat -r.
func (p *printer) requestLines(r *view.Job) string {
	j := r.Requested.Job
	var b strings.Builder
	line := func(title, text string) { fmt.Fprintf(&b, "       %-17s %s\n", title, text) }
	line("Full jobname:", j.Name)
	if r.Queue != "" {
		line("Master Queue:", r.Queue)
	}
	if j.PE != "" {
		line("Requested PE:", j.PE+" "+j.PERange.Slots(grid.SlotsEnd))
		if r.Queue != "" {
			line("Granted PE:", fmt.Sprintf("%s %d", r.Requested.GrantedPE, r.Requested.GrantedSlots))
		}
	}
	if j.Ckpt != "" {
		line("Checkpoint Env.:", j.Ckpt)
	}
	title := "Hard Resources:"
	for _, q := range r.Requested.Hard {
		line(title, fmt.Sprintf("%s=%s (%f)", q.Name, q.Value, q.Urgency))
		title = ""
	}
	if title != "" {
		line(title, "")
	}
	for _, of := range []struct {
		title    string
		requests []view.JobRequest
	}{{"Master task hard resources:", r.Requested.Master}, {"Slave task hard resources:", r.Requested.Slave}} {
		for _, q := range of.requests {
			line(of.title, fmt.Sprintf("%s=%s (%f)", q.Name, q.Value, q.Urgency))
			of.title = ""
		}
	}
	title = "Soft Resources:"
	for _, q := range r.Requested.Soft {
		line(title, q.Name+"="+q.Value)
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
	list("Slave task hard requested queues:", j.SlaveQueues)
	list("Predecessor Jobs (request):", j.PredecessorReq)
	list("Predecessor Jobs:", ids(j.Predecessors))
	list("Predecessor Array Jobs (request):", j.ArrayPredecessorReq)
	list("Predecessor Array Jobs:", ids(j.ArrayPredecessors))
	if !p.noBinding {
		line("Binding:", j.Binding.String())
	}
	return b.String()
}

func ids(list []uint32) (out grid.Names) {
	for _, id := range list {
		out = append(out, strconv.FormatUint(uint64(id), 10))
	}
	return out
}
