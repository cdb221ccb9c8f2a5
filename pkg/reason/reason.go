package reason

import (
	"fmt"
	"strconv"
	"strings"
)

// Reason is something that keeps a task from starting, or from starting at a place. The zero value means that nothing
// does.
type Reason struct {
	Code   Code
	Object string `see:"text"` // the queue instance, host, queue, PE, rule or other job that it is about
	What   string `see:"text"` // the attribute, or all requests
	Offer  string `see:"text"` // what the object has to say: what it offers, the job's project, the error
	Slots  int    // how many there are, or how many tasks run
}

// Fits reports whether there is nothing against it.
func (r Reason) Fits() bool { return r.Code == OK }

// String returns Grid Engine's message, as qstat -j prints it; "" for OK.
func (r Reason) String() string { return r.fill(r.Code.row().message) }

// Remedy returns what removes it, as a command or a sentence, and the role that may do that; "" when only time does.
func (r Reason) Remedy() (what, role string) {
	row := r.Code.row()
	return r.fill(row.remedy), row.by
}

// fill puts the values of a reason into a text: {object}, {what}, {offer}, {slots}.
func (r Reason) fill(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	return strings.NewReplacer("{object}", r.Object, "{what}", r.What, "{offer}", r.Offer, "{slots}",
		strconv.Itoa(r.Slots)).Replace(text)
}

// Texts returns Grid Engine's messages of reasons.
func Texts(reasons []Reason) []string {
	out := make([]string, len(reasons))
	for i, r := range reasons {
		out[i] = r.String()
	}
	return out
}

// Nowhere reports whether a reason says no more than that no queue instance takes the job.
func (r Reason) Nowhere() bool { return r.Code == QueueUnavailable && r.Object == "" }

// Passing reports whether a reason goes away without a change of the job or the configuration.
func (r Reason) Passing() bool {
	switch r.Code {
	case QueueFull, QueueAlarm, QueueSuspendAlarm, QueueSuspended, QueueUnavailable, InstanceInError, HostUnheard,
		QueueCloses:
		return true
	}
	return false
}

// Summary returns the sentence under which Grid Engine summarizes the reasons of a code for all jobs, qstat -j without
// jobs; "" when each stands for itself.
func (c Code) Summary() string { return c.row().summary }

// String returns the name of a code, as JSON has it.
func (c Code) String() string { return c.row().name }

// Slurm returns the reason under which squeue of Slurm shows such a job.
func (c Code) Slurm() string { return c.row().slurm }

// Codes returns all codes, in the order of their numbers.
func Codes() (out []Code) {
	for i := range table {
		if table[i].name != "" {
			out = append(out, Code(i))
		}
	}
	return out
}

// row returns the line of a code; of one that a later version has, what can be said of it.
func (c Code) row() *row {
	if int(c) < len(table) {
		return &table[c]
	}
	text := fmt.Sprintf("reason %d", uint8(c))
	return &row{name: text, slurm: "None", message: text}
}

// row is what is said of a code. message and summary are Grid Engine's where it has them; remedy is what removes the
// reason, and by the role that may do it: owner, operator, manager.
type row struct{ name, slurm, message, summary, remedy, by string }
