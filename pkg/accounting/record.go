package accounting

import (
	"encoding/json"
	"math"

	"github.com/quill-grid/quill/pkg/grid"
)

// Micros is a time in microseconds since 1970 (UTC), 0: not set.
type Micros int64

// Record is a record as JSON, with times of type T: Micros in accounting.jsonl. Names and shape
// are those of Open Cluster Scheduler. What it does not have there is absent when not set: array,
// attempt, failed_text, submit_host, cwd, deleted_by, rescheduled.
type Record[T any] struct {
	Job        uint32 `json:"job_number"`
	Task       uint32 `json:"task_number" jsonschema:"1 of a job that is no array"`
	Array      bool   `json:"array,omitzero" jsonschema:"the job is an array"`
	Start      T      `json:"start_time,omitzero" jsonschema:"absent: it did not start"`
	End        T      `json:"end_time,omitzero"`
	Owner      string `json:"owner"`
	Group      string `json:"group"`
	Account    string `json:"account"`
	Queue      string `json:"qname"`
	Host       string `json:"hostname"`
	Project    string `json:"project,omitzero"`
	Department string `json:"department,omitzero"`
	PE         string `json:"granted_pe,omitzero"`
	Slots      uint32 `json:"slots"`
	AR         uint32 `json:"arid,omitzero" jsonschema:"advance reservation"`
	Name       string `json:"job_name"`
	Priority   int32  `json:"priority" jsonschema:"-p"`
	Submit     T      `json:"submission_time,omitzero"`
	Command    string `json:"submit_cmd_line,omitzero"`
	ARSubmit   T      `json:"ar_submission_time,omitzero"`
	PETask     string `json:"pe_taskid,omitzero" jsonschema:"of a task of a parallel job"`
	Category   string `json:"category,omitzero"`
	Failed     uint32 `json:"failed" jsonschema:"0, or code of the failure"`
	FailedText string `json:"failed_text,omitzero" jsonschema:"the failure"`
	ExitStatus int32  `json:"exit_status" jsonschema:"128 + signal when a signal ended it; -1: it runs"`
	Usage      struct {
		RUsage RUsage `json:"rusage" jsonschema:"getrusage(2)"`
		Usage  Usage  `json:"usage"`
	} `json:"usage"`
	Attempt     uint32 `json:"attempt,omitzero" jsonschema:"2 and more: of a task that was started again"`
	SubmitHost  string `json:"submit_host,omitzero"`
	Cwd         string `json:"cwd,omitzero"`
	DeletedBy   string `json:"deleted_by,omitzero" jsonschema:"user@host of qdel"`
	Rescheduled bool   `json:"rescheduled,omitzero" jsonschema:"the task started again"`

	Maps            []ResourceMap      `json:"resource_map,omitzero" jsonschema:"instances of resource maps that the task had"`
	InstanceSeconds map[string]float64 `json:"instance_seconds,omitzero" jsonschema:"by resource map: seconds of the attempt times instances"`
}

// ResourceMap is the instances of a resource map that a task has on a host.
type ResourceMap struct {
	Resource string   `json:"name" jsonschema:"attribute of the complex"`
	Host     string   `json:"hostname"`
	IDs      []string `json:"rsmap_ids" jsonschema:"in the order of the map; a shared one as often as it was granted"`
	Amount   int      `json:"total_amount" jsonschema:"how many"`
}

// ResourceMapsOf returns grants as JSON has them.
func ResourceMapsOf(maps []grid.MapGrant) (out []ResourceMap) {
	for _, m := range maps {
		out = append(out, ResourceMap{m.Resource, m.Host, m.IDs, len(m.IDs)})
	}
	return out
}

// RUsage is what getrusage(2) reports.
type RUsage struct {
	WallClock     float64 `json:"ru_wallclock" jsonschema:"seconds"`
	User          float64 `json:"ru_utime" jsonschema:"seconds"`
	System        float64 `json:"ru_stime" jsonschema:"seconds"`
	MaxRSS        float64 `json:"ru_maxrss" jsonschema:"kilobytes"`
	MinFaults     int64   `json:"ru_minflt"`
	MajFaults     int64   `json:"ru_majflt"`
	InBlocks      int64   `json:"ru_inblock"`
	OutBlocks     int64   `json:"ru_oublock"`
	VolSwitches   int64   `json:"ru_nvcsw"`
	InvolSwitches int64   `json:"ru_nivcsw"`
}

// Usage is what execd has measured.
type Usage struct {
	WallClock float64 `json:"wallclock" jsonschema:"seconds"`
	CPU       float64 `json:"cpu" jsonschema:"seconds"`
	Mem       float64 `json:"mem" jsonschema:"GB seconds"`
	IO        float64 `json:"io" jsonschema:"GB"`
	IOWait    float64 `json:"iow" jsonschema:"seconds"`
	MaxVMem   float64 `json:"maxvmem" jsonschema:"bytes"`
	MaxRSS    float64 `json:"maxrss" jsonschema:"bytes"`
}

// RecordOf returns a record with times as at returns them.
func RecordOf[T any](a *grid.Accounting, at func(grid.Time) T) *Record[T] {
	r := &Record[T]{Job: a.Job, Task: a.Task, Array: a.Array, Start: at(a.Start), End: at(a.End), Owner: a.Owner,
		Group: a.Group, Account: a.Account,
		Queue: a.Queue, Host: a.Host, Project: a.Project, Department: a.Department, PE: a.PE, Slots: a.Slots, AR: a.AR,
		Name: a.Name, Priority: a.Priority,
		Submit: at(a.Submit), Command: a.SubmitCommand, ARSubmit: at(a.ARSubmit), PETask: a.PETask, Category: a.Category,
		Failed:     a.Failed,
		FailedText: a.FailedText, ExitStatus: int32(a.ExitStatus), SubmitHost: a.SubmitHost, Cwd: a.Cwd,
		DeletedBy: a.DeletedBy, Rescheduled: a.Rescheduled}
	if a.Attempt > 1 {
		r.Attempt = a.Attempt
	}
	r.Maps = ResourceMapsOf(a.Maps)
	names, seconds := a.InstanceSeconds()
	for i, name := range names {
		if r.InstanceSeconds == nil {
			r.InstanceSeconds = map[string]float64{}
		}
		r.InstanceSeconds[name] = seconds[i]
	}
	u := finite(a.Usage)
	r.Usage.RUsage = RUsage{WallClock: u.WallSeconds, User: u.UserSeconds, System: u.SystemSeconds, MaxRSS: u.MaxRSS,
		MinFaults: u.MinFaults,
		MajFaults: u.MajFaults, InBlocks: u.InBlocks, OutBlocks: u.OutBlocks, VolSwitches: u.VolSwitches,
		InvolSwitches: u.InvolSwitches}
	r.Usage.Usage = Usage{WallClock: u.WallSeconds, CPU: u.CPU, Mem: u.Mem, IO: u.IO, IOWait: u.IOWait, MaxVMem: u.MaxVMem,
		MaxRSS: u.MaxRSS * 1024}
	return r
}

func micros(t grid.Time) Micros { return Micros(t) * 1000 }

func timeOf(m Micros) grid.Time { return grid.Time(m / 1000) }

// finite returns a usage with 0 for what JSON has no number for: a host may report anything.
func finite(u grid.Usage) grid.Usage {
	for _, n := range [...]*float64{&u.WallSeconds, &u.UserSeconds, &u.SystemSeconds, &u.MaxRSS, &u.CPU, &u.Mem, &u.IO,
		&u.IOWait, &u.MaxVMem} {
		if math.IsNaN(*n) || math.IsInf(*n, 0) {
			*n = 0
		}
	}
	return u
}

// AppendJSON appends the record as one line of accounting.jsonl, with its newline.
func AppendJSON(dst []byte, a *grid.Accounting) []byte {
	line, _ := json.Marshal(RecordOf(a, micros)) // texts and finite numbers: it cannot fail
	return append(append(dst, line...), '\n')
}

// parseJSON reads a line of accounting.jsonl, and what the execution daemon has measured by it. An object without a job
// is ErrComment.
func parseJSON(line string) (*grid.Accounting, *Usage, error) {
	r := Record[Micros]{Attempt: 1}
	r.Usage.Usage.WallClock, r.Usage.Usage.MaxRSS = math.NaN(), math.NaN() // if the line does not say
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		return nil, nil, err
	}
	if r.Job == 0 {
		return nil, nil, ErrComment
	}
	measured := &r.Usage.Usage
	if math.IsNaN(measured.WallClock) {
		measured.WallClock = r.Usage.RUsage.WallClock
	}
	if math.IsNaN(measured.MaxRSS) {
		measured.MaxRSS = r.Usage.RUsage.MaxRSS * 1024
	}
	return recorded(&r), measured, nil
}

// recorded returns the record of a line of accounting.jsonl.
func recorded(r *Record[Micros]) *grid.Accounting {
	m, u := r.Usage.RUsage, r.Usage.Usage
	var maps []grid.MapGrant
	for _, m := range r.Maps {
		maps = append(maps, grid.MapGrant{Resource: m.Resource, Host: m.Host, IDs: m.IDs})
	}
	return &grid.Accounting{Maps: maps, Job: r.Job, Task: max(r.Task, 1), Array: r.Array || r.Task > 1, Attempt: r.Attempt,
		Queue: r.Queue, Host: r.Host, Group: r.Group,
		Owner: r.Owner, Name: r.Name, Account: r.Account, Priority: r.Priority, Submit: timeOf(r.Submit),
		Start: timeOf(r.Start), End: timeOf(r.End),
		Failed: r.Failed, FailedText: r.FailedText, ExitStatus: uint32(r.ExitStatus), Project: r.Project,
		Department: r.Department, PE: r.PE,
		PETask: r.PETask, Category: r.Category, Slots: r.Slots, AR: r.AR, ARSubmit: timeOf(r.ARSubmit),
		DeletedBy:   r.DeletedBy,
		Rescheduled: r.Rescheduled, SubmitHost: r.SubmitHost, SubmitCommand: r.Command, Cwd: r.Cwd,
		Usage: grid.Usage{WallSeconds: m.WallClock, UserSeconds: m.User, SystemSeconds: m.System, MaxRSS: m.MaxRSS,
			MinFaults: m.MinFaults,
			MajFaults: m.MajFaults, InBlocks: m.InBlocks, OutBlocks: m.OutBlocks, VolSwitches: m.VolSwitches,
			InvolSwitches: m.InvolSwitches,
			CPU:           u.CPU, Mem: u.Mem, IO: u.IO, IOWait: u.IOWait, MaxVMem: u.MaxVMem}}
}
