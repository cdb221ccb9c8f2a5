package qacct

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/quill-grid/quill/pkg/accounting"
	"github.com/quill-grid/quill/pkg/document"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/view"
)

// records prints the selected records one by one; after those of all jobs
// stand the totals. A named job that has none is an error.
func (w *query) records(env opt.Env, in io.Reader, out io.Writer) int {
	found := make([]bool, len(w.jobNames))
	sum := newTotals(w)
	var failed error
	jobs := func(yield func(*grid.Accounting, *accounting.Usage) bool) {
		more := true
		failed = w.each(env, in, func(a *grid.Accounting, measured *accounting.Usage) {
			if more && w.named(a, found) {
				sum.add(a)
				more = yield(a, measured)
			}
		})
	}
	problems := func() (list []error) {
		if failed != nil {
			return []error{failed}
		}
		for i, name := range w.jobNames {
			if !found[i] {
				none := gdi.Deny(gdi.StatusUnknown, "error: "+w.missing(name))
				list = append(list, &gdi.Refusal{Answer: none.On(gdi.JobNamed(name))})
			}
		}
		return list
	}
	if w.format.JSON() {
		d := document.Accounting{Jobs: document.RecordsMeasured(jobs)}
		if len(w.jobNames) == 0 {
			d.Totals = sum.rows
		}
		return env.DocumentTo(out, d, problems)
	}
	for a := range jobs {
		io.WriteString(out, record(a, w.now.Location()))
	}
	if len(w.jobNames) == 0 && failed == nil {
		sum.print(out)
	}
	list := problems()
	for _, err := range list {
		fmt.Fprintln(env.Stderr, err)
	}
	return min(len(list), 1)
}

// named reports whether -j and -t name a record, and which names of -j are found.
func (w *query) named(a *grid.Accounting, found []bool) bool {
	if len(w.tasks) > 0 && (!a.Array || !w.tasks.Contains(a.Task)) {
		return false
	}
	named := len(w.jobNames) == 0
	for i, name := range w.jobNames {
		if view.IsJob(a, name) {
			found[i], named = true, true
		}
	}
	return named
}

func (w *query) missing(name string) string {
	_, err := strconv.ParseUint(name, 10, 32)
	switch {
	case len(w.tasks) > 0:
		return fmt.Sprintf("Job-array tasks %s.%s not found", name, taskText(w.tasks))
	case err == nil:
		return fmt.Sprintf("job id %s not found", name)
	}
	return fmt.Sprintf("job name %s not found", name)
}

// taskText prints every range with its ends and step.
func taskText(tasks grid.Ranges) string {
	var parts []string
	for _, r := range tasks {
		parts = append(parts, fmt.Sprintf("%d-%d:%d", r.First, r.Last, max(r.Step, 1)))
	}
	return strings.Join(parts, ",")
}

// record prints one record: names to column 13, values from there.
func record(a *grid.Accounting, zone *time.Location) string {
	b := recordText{zone: zone}
	b.Grow(1500)
	b.WriteString(strings.Repeat("=", 62) + "\n")
	b.job(a)
	b.ended(a)
	b.usage(&a.Usage)
	if a.AR != 0 {
		b.count("arid", int64(a.AR))
		b.clock("ar_sub_time", a.ARSubmit)
	} else {
		b.line("arid", "undefined")
		b.line("ar_sub_time", "undefined")
	}
	b.line("category", view.OrNone(a.Category))
	if len(a.Maps) > 0 {
		b.instances(a)
	}
	return b.String()
}

// instances prints the instances of resource maps, and for how many seconds the task had them.
func (b *recordText) instances(a *grid.Accounting) {
	names, amounts := a.InstanceSeconds()
	for i := range names {
		names[i] = fmt.Sprintf("%s=%.0f", names[i], amounts[i])
	}
	fmt.Fprintf(b, "resource_map  %s\ninstance_seconds  %s\n", grid.MapText(a.Maps), strings.Join(names, ","))
}

// recordText is the text of a record.
type recordText struct {
	strings.Builder
	zone *time.Location
}

func (b *recordText) line(name, value string)        { fmt.Fprintf(b, "%-13s%s\n", name, value) }
func (b *recordText) wide(name, value string)        { b.line(name, fmt.Sprintf("%-20s", value)) }
func (b *recordText) count(name string, n int64)     { b.wide(name, strconv.FormatInt(n, 10)) }
func (b *recordText) clock(name string, t grid.Time) { b.line(name, clock(t, b.zone)) }

// job is which job it is, whose, where and when it ran.
func (b *recordText) job(a *grid.Accounting) {
	b.wide("qname", a.Queue)
	b.wide("hostname", a.Host)
	b.wide("group", a.Group)
	b.wide("owner", a.Owner)
	b.wide("project", view.OrNone(a.Project))
	b.wide("department", view.OrNone(a.Department))
	b.wide("jobname", a.Name)
	b.count("jobnumber", int64(a.Job))
	if a.Array {
		b.count("taskid", int64(a.Task))
	} else {
		b.line("taskid", "undefined")
	}
	b.wide("account", a.Account)
	b.count("priority", int64(a.Priority))
	b.clock("qsub_time", a.Submit)
	b.clock("start_time", a.Start)
	b.clock("end_time", a.End)
	b.wide("granted_pe", view.OrNone(a.PE))
	b.count("slots", int64(a.Slots))
}

// ended is how it ended.
func (b *recordText) ended(a *grid.Accounting) {
	failed := fmt.Sprintf("%-3d ", a.Failed)
	if a.Failed != 0 {
		failed += ": " + report.Failure(a.Failed).String()
	} else {
		failed += " "
	}
	b.line("failed", failed)
	status := fmt.Sprintf("%-20d", a.ExitStatus)
	if a.ExitStatus > 128 {
		status += " (" + signal(a.ExitStatus-128) + ")"
	}
	b.line("exit_status", status)
	if a.FailedText != "" && a.FailedText != report.Failure(a.Failed).String() {
		b.line("failed_text", a.FailedText)
	}
}

func (b *recordText) usage(u *grid.Usage) {
	b.line("ru_wallclock", fmt.Sprintf("%.0fs", u.WallSeconds))
	b.line("ru_utime", seconds(u.UserSeconds))
	b.line("ru_stime", seconds(u.SystemSeconds))
	// The file holds kilobytes, and qacct has always shown them as bytes.
	b.line("ru_maxrss", size(u.MaxRSS))
	for _, name := range []string{"ru_ixrss", "ru_ismrss", "ru_idrss", "ru_isrss"} {
		b.line(name, size(0))
	}
	b.count("ru_minflt", u.MinFaults)
	b.count("ru_majflt", u.MajFaults)
	b.count("ru_nswap", 0)
	b.count("ru_inblock", u.InBlocks)
	b.count("ru_oublock", u.OutBlocks)
	for _, name := range []string{"ru_msgsnd", "ru_msgrcv", "ru_nsignals"} {
		b.count(name, 0)
	}
	b.count("ru_nvcsw", u.VolSwitches)
	b.count("ru_nivcsw", u.InvolSwitches)
	b.line("cpu", seconds(u.CPU))
	b.line("mem", size(u.Mem*(1<<30))+"s")
	b.line("io", size(u.IO*(1<<30)))
	b.line("iow", seconds(u.IOWait))
	b.line("maxvmem", size(u.MaxVMem))
}

// clock prints a time as ctime(3) does, -/- for none.
func clock(t grid.Time, zone *time.Location) string {
	if t == 0 {
		return "-/-"
	}
	return t.Std().In(zone).Format("Mon Jan _2 15:04:05 2006")
}

func seconds(s float64) string { return fmt.Sprintf("%.3fs", s) }

// size prints bytes in the unit that keeps the number below 1024.
func size(bytes float64) string {
	units := []string{"B", "KB", "MB", "GB", "TB"}
	i := 0
	for bytes >= 1024 && i < len(units)-1 {
		bytes /= 1024
		i++
	}
	return fmt.Sprintf("%.3f%s", bytes, units[i])
}

// signal names a signal as strsignal(3) does.
func signal(n uint32) string {
	text := syscall.Signal(n).String()
	if strings.HasPrefix(text, "signal ") {
		return "Unknown " + text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
