package accounting

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/quill-grid/quill/pkg/grid"
)

// Lines that Grid Engine 8.1.9 wrote.
var genuine = []string{
	"all.q:node1:bob:bob:arr3:86:sge:0:1795226511:1795226511:1795226517:100:137:6:0.005070:0.012321:4576.000000:0:0:0:0:554:0:0:0.000000:24:0:0:0:13:6:NONE:defaultdepartment:NONE:1:1:0.017391:0.000008:0.000037:NONE:0.000000:NONE:3514368.000000:0:0",
	"all.q:node1:bob:bob:nn:84:sge:0:1795226511:1795226511:1795226517:100:137:6:0.003783:0.008379:4588.000000:0:0:0:0:549:0:0:240.000000:40:0:0:0:20:7:NONE:defaultdepartment:NONE:1:0:0.012162:0.000000:0.000037:-l h_rt=5:0.000000:NONE:3461120.000000:0:0",
	"all.q:node1:alice:alice:t_cwd:1:sge:0:1795225908:0:0:28:0:0:0.000000:0.000000:0.000000:0:0:0:0:0:0:0:0.000000:0:0:0:0:0:0:NONE:defaultdepartment:NONE:1:0:0.000000:0.000000:0.000000:NONE:0.000000:NONE:0.000000:0:0",
}

func TestGenuineLines(t *testing.T) {
	for _, line := range genuine {
		a, err := ParseLine(line + "\n")
		if err != nil {
			t.Fatalf("ParseLine(%q): %v", line, err)
		}
		if got := string(AppendLine(nil, a)); got != line+"\n" {
			t.Errorf("written again:\n got %s\nwant %s", got, line)
		}
	}
}

func TestWhatIsNoRecord(t *testing.T) {
	for _, line := range []string{"", "\n", "# Version: 8.1.9\n", fmt.Sprintf(JSON.Continues, 1, 2),
		fmt.Sprintf(Colons.Continues, 1, 2)} {
		if _, err := ParseLine(line); !errors.Is(err, ErrComment) {
			t.Errorf("ParseLine(%q): %v, want ErrComment", line, err)
		}
	}
	for line, want := range map[string]string{
		"a:b:c": "accounting line has 3 fields instead of 45",
		strings.Replace(genuine[0], ":86:", ":x:", 1):   `field 6 of an accounting line: "x" is no number`,
		genuine[0][:strings.LastIndex(genuine[0], ":")]: "accounting line has 44 fields instead of 45",
	} {
		if _, err := ParseLine(line); err == nil || err.Error() != want {
			t.Errorf("ParseLine(%q): %v, want %s", line, err, want)
		}
	}
}

func TestColonsAndNewlinesCannotBreakALine(t *testing.T) {
	a := &grid.Accounting{Job: 7, Name: "a:b\nc", Category: "-l h_rt=1:0:0"}
	line := string(AppendLine(nil, a))
	if strings.Count(line, ":") != Fields-1 || strings.Count(line, "\n") != 1 {
		t.Fatalf("broken line %q", line)
	}
	back, err := ParseLine(line)
	if err != nil || back.Name != "a_b c" || back.Category != "-l h_rt=1_0_0" {
		t.Errorf("read as %q, %q, %v", back.Name, back.Category, err)
	}
}

// The reason of a failure is written as it is, after the fields of the format.
func TestReason(t *testing.T) {
	a := &grid.Accounting{Job: 7, Failed: 100, FailedText: "out of memory: 4.00G\nof 4.00G"}
	line := string(AppendLine(nil, a))
	if !strings.HasSuffix(line, ":0:failed_text=out of memory: 4.00G of 4.00G\n") {
		t.Fatalf("line %q", line)
	}
	back, err := ParseLine(line)
	if err != nil || back.FailedText != "out of memory: 4.00G of 4.00G" {
		t.Errorf("read as %q, %v", back.FailedText, err)
	}
	a.Failed = 0
	if line := string(AppendLine(nil, a)); strings.Count(line, ":") != Fields-1 {
		t.Errorf("line of a job that did not fail: %q", line)
	}
}

// TestRoundTrip: what a line can hold comes back.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z][a-z0-9.=@ -]{0,9}`)
		n := rapid.Uint32Range(0, 1<<31)
		whole := rapid.Int64Range(0, 1<<40)
		at := rapid.Int64Range(0, 1<<33)
		a := &grid.Accounting{
			Attempt: 1, Queue: text.Draw(t, "queue"), Host: text.Draw(t, "host"), Group: text.Draw(t, "group"),
			Owner: text.Draw(t, "owner"), Name: text.Draw(t, "name"), Account: text.Draw(t, "account"),
			Job: n.Draw(t, "job"), Task: 1, Priority: rapid.Int32Range(-1023, 1024).Draw(t, "priority"),
			Submit: grid.Time(at.Draw(t, "submit") * 1000), Start: grid.Time(at.Draw(t, "start") * 1000),
			Failed: n.Draw(t, "failed"), ExitStatus: n.Draw(t, "exit"), Slots: n.Draw(t, "slots"), AR: n.Draw(t, "ar"),
			Project: text.Draw(t, "project"), PE: text.Draw(t, "pe"), Category: text.Draw(t, "category"),
		}
		if rapid.Bool().Draw(t, "array") {
			a.Array, a.Task = true, rapid.Uint32Min(1).Draw(t, "task")
		}
		a.Usage.WallSeconds = float64(whole.Draw(t, "wall"))
		a.Usage.CPU = float64(whole.Draw(t, "cpu")) / 64
		a.Usage.MaxVMem = float64(whole.Draw(t, "maxvmem"))
		a.Usage.InBlocks = whole.Draw(t, "inblock")
		back, err := ParseLine(string(AppendLine(nil, a)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(a, back); d != "" {
			t.Fatal(d)
		}
	})
}

// TestJSONRoundTrip checks that a line of accounting.jsonl holds all of a record.
func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, n, count := rapid.String(), rapid.Uint32(), rapid.Int64Range(0, 1<<50)
		at := func(name string) grid.Time { return grid.Time(rapid.Int64Range(0, 1<<42).Draw(t, name)) }
		number := func(name string) float64 { return rapid.Float64Range(0, 1e15).Draw(t, name) }
		a := &grid.Accounting{Job: rapid.Uint32Min(1).Draw(t, "job"), Task: 1, Attempt: rapid.Uint32Min(1).Draw(t, "attempt"),
			Queue: text.Draw(t, "queue"), Host: text.Draw(t, "host"), Group: text.Draw(t, "group"), Owner: text.Draw(t, "owner"),
			Name:    text.Draw(t, "name"),
			Account: text.Draw(t, "account"), Priority: rapid.Int32().Draw(t, "priority"), Submit: at("submit"),
			Start: at("start"), End: at("end"),
			Failed: n.Draw(t, "failed"), FailedText: text.Draw(t, "text"), ExitStatus: n.Draw(t, "exit"),
			Project:    text.Draw(t, "project"),
			Department: text.Draw(t, "department"), PE: text.Draw(t, "pe"), PETask: text.Draw(t, "petask"),
			Category: text.Draw(t, "category"),
			Slots:    n.Draw(t, "slots"), AR: n.Draw(t, "ar"), ARSubmit: at("arsubmit"), DeletedBy: text.Draw(t, "deleted"),
			Rescheduled: rapid.Bool().Draw(t, "rescheduled"), SubmitHost: text.Draw(t, "from"),
			SubmitCommand: text.Draw(t, "command"), Cwd: text.Draw(t, "cwd"),
			Usage: grid.Usage{WallSeconds: number("wall"), UserSeconds: number("user"), SystemSeconds: number("system"),
				CPU: number("cpu"),
				Mem: number("mem"), IO: number("io"), IOWait: number("iow"), MaxVMem: number("maxvmem"), MaxRSS: number("rss"),
				MinFaults: count.Draw(t, "minflt"), MajFaults: count.Draw(t, "majflt"), InBlocks: count.Draw(t, "in"),
				OutBlocks:   count.Draw(t, "out"),
				VolSwitches: count.Draw(t, "vol"), InvolSwitches: count.Draw(t, "invol")}}
		if rapid.Bool().Draw(t, "array") {
			a.Array, a.Task = true, rapid.Uint32Min(1).Draw(t, "task")
		}
		line := string(AppendJSON(nil, a))
		if strings.Count(line, "\n") != 1 {
			t.Fatalf("not one line: %q", line)
		}
		back, err := ParseLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(a, back); d != "" {
			t.Fatal(d)
		}
	})
}

// ocs is a line that Open Cluster Scheduler 9.0 wrote.
const ocs = `{"job_number":10,"task_number":1,"start_time":1730532913429415,"end_time":1730532913979016,"owner":"root","group":"root","account":"sge",` +
	`"qname":"all.q","hostname":"master","department":"defaultdepartment","slots":1,"job_name":"echo","priority":0,"submission_time":1730532912874519,` +
	`"submit_cmd_line":"qsub -b y -terse echo 'job 1'","category":"","failed":0,"exit_status":0,"usage":{"rusage":{"ru_wallclock":0,"ru_utime":0.355821,` +
	`"ru_stime":0.161309,"ru_maxrss":10284,"ru_ixrss":0,"ru_ismrss":0,"ru_idrss":0,"ru_isrss":0,"ru_minflt":504,"ru_majflt":0,"ru_nswap":0,` +
	`"ru_inblock":0,"ru_oublock":11,"ru_msgsnd":0,"ru_msgrcv":0,"ru_nsignals":0,"ru_nvcsw":248,"ru_nivcsw":14},"usage":{"wallclock":2.022342,` +
	`"cpu":0.51713,"mem":0.0043125152587890625,"io":0.000008341856300830841,"iow":0.0,"maxvmem":21049344.0,"maxrss":10530816.0}}}` + "\n"

// TestOpenClusterScheduler reads a line that Open Cluster Scheduler wrote.
func TestOpenClusterScheduler(t *testing.T) {
	want := &grid.Accounting{Job: 10, Task: 1, Attempt: 1, Queue: "all.q", Host: "master", Group: "root", Owner: "root",
		Name: "echo", Account: "sge",
		Submit: 1730532912874, Start: 1730532913429, End: 1730532913979, Department: "defaultdepartment", Slots: 1,
		SubmitCommand: "qsub -b y -terse echo 'job 1'",
		Usage: grid.Usage{UserSeconds: 0.355821, SystemSeconds: 0.161309, MaxRSS: 10284, MinFaults: 504, OutBlocks: 11,
			VolSwitches: 248, InvolSwitches: 14,
			CPU: 0.51713, Mem: 0.0043125152587890625, IO: 0.000008341856300830841, MaxVMem: 21049344}}
	a, err := ParseLine(ocs)
	if d := cmp.Diff(want, a); err != nil || d != "" {
		t.Error(err, d)
	}
}

func BenchmarkAppendLine(b *testing.B) {
	a, err := ParseLine(genuine[1])
	if err != nil {
		b.Fatal(err)
	}
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line = AppendLine(line[:0], a)
	}
	b.SetBytes(int64(len(line)))
}

func BenchmarkParseLine(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseLine(genuine[1]); err != nil {
			b.Fatal(err)
		}
	}
}

// TestNumbersJSONDoesNotHave: a record is written whatever a host has reported as usage.
func TestNumbersJSONDoesNotHave(t *testing.T) {
	a := &grid.Accounting{Job: 7, Task: 1, Attempt: 1, Usage: grid.Usage{CPU: math.NaN(), MaxVMem: math.Inf(1), Mem: 2}}
	read, err := ParseLine(string(AppendJSON(nil, a)))
	if err != nil || read.Job != 7 || read.Usage.CPU != 0 || read.Usage.MaxVMem != 0 || read.Usage.Mem != 2 {
		t.Errorf("%+v, %v", read, err)
	}
}

// Instances of resource maps are a field after those of the format, before the reason; ids may have colons.
func TestResourceMap(t *testing.T) {
	a := &grid.Accounting{Job: 7, Failed: 100, FailedText: "h_rt: 60 s of 60 s", Maps: []grid.MapGrant{
		{Resource: "gpu", Host: "node1", IDs: []string{"0000:3b:00.0", "100%"}},
		{Resource: "port", Host: "node2", IDs: []string{"7"}}}}
	line := string(AppendLine(nil, a))
	if !strings.HasSuffix(
		line, ":0:resource_map=gpu=node1=(0000%3A3b%3A00.0 100%25),port=node2=(7):failed_text=h_rt: 60 s of 60 s\n") {
		t.Fatalf("line %q", line)
	}
	back, err := ParseLine(line)
	if err != nil || grid.MapText(back.Maps) != grid.MapText(a.Maps) || back.FailedText != a.FailedText {
		t.Errorf("read as %v, %q, %v", back.Maps, back.FailedText, err)
	}
}
