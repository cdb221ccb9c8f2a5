package grid

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Get is the value of a parameter; one that is set to none is "", as is one that
// is not set, but for the global configuration: there it has the value of a new
// cell.
func (c *Conf) Get(name string) string {
	text, set := c.Entries.Get(name)
	if !set && c.Host == GlobalConf {
		text, _ = defaultEntries.Get(name)
	}
	if strings.EqualFold(text, "none") {
		return ""
	}
	return text
}

// Param looks a name up in one of the configuration's parameter lists:
// Param("qmaster_params", "MAX_DYN_EC").
func (c *Conf) Param(list, name string) (string, bool) { return ParamIn(c.Get(list), name) }

// KeptOrders is for how many seconds, and up to how many bytes, qmaster keeps
// what schedulers ordered, so that their decisions can be repeated:
// qmaster_params KEEP_ORDERS_TIME, a time_specifier, a week when not set, and
// KEEP_ORDERS_SIZE, a memory_specifier, 1G when not set. With 0 for either
// nothing is kept. ok is false when one of them is no such value.
func (c *Conf) KeptOrders() (seconds, bytes float64, ok bool) {
	seconds, bytes, ok = c.kept("KEEP_ORDERS_TIME", "KEEP_ORDERS_SIZE", 7*24*3600, 1<<30)
	if !ok || bytes >= Infinity {
		return 0, 0, false
	}
	return seconds, bytes, true
}

// KeptHistory is for how many seconds, and up to how many bytes, qmaster keeps
// the history of the cell: qmaster_params KEEP_HISTORY_TIME, a time_specifier,
// INFINITY when not set, and KEEP_HISTORY_SIZE, a memory_specifier, 16G when not
// set. ok is false when one of them is no such value, or 0.
func (c *Conf) KeptHistory() (seconds, bytes float64, ok bool) {
	seconds, bytes, ok = c.kept("KEEP_HISTORY_TIME", "KEEP_HISTORY_SIZE", Infinity, 16<<30)
	return seconds, bytes, ok && seconds > 0 && bytes > 0
}

// kept reads a time and a size of qmaster_params.
func (c *Conf) kept(time, size string, seconds, bytes float64) (float64, float64, bool) {
	ok := true
	if text, given := c.Param("qmaster_params", time); given {
		if seconds, ok = ParseTimeSpan(text); !ok {
			return 0, 0, false
		}
	}
	if text, given := c.Param("qmaster_params", size); given {
		bytes, ok = ParseMemory(text)
	}
	return seconds, bytes, ok && bytes >= 0
}

// JSV is how long qmaster's submission verifier may take for a job, in seconds,
// and how long it may take before that is logged, in milliseconds: qmaster_params
// jsv_timeout, 10 when not set, and jsv_threshold, 5000 when not set. ok is false
// when one of them is no such number.
func (c *Conf) JSV() (timeout, threshold uint32, ok bool) {
	timeout, threshold, ok = 10, 5000, true
	for name, n := range map[string]*uint32{"JSV_TIMEOUT": &timeout, "JSV_THRESHOLD": &threshold} {
		if text, given := c.Param("qmaster_params", name); given {
			v, err := strconv.ParseUint(text, 10, 32)
			*n, ok = uint32(v), ok && err == nil
		}
	}
	return timeout, threshold, ok && timeout > 0
}

// Reporting is what reporting_params of sge_conf(5) say.
type Reporting struct {
	Accounting  bool    // an accounting file is written
	OldFormat   bool    // it is accounting, not accounting.jsonl
	Reporting   bool    // the reporting file is written
	JobLog      bool    // with job_log records
	Consumables bool    // with all consumables, not only those of report_variables
	FlushTime   float64 // seconds that a record may wait before it is in the reporting file
	ShareLog    float64 // seconds between two dumps of the share tree, 0 = none
}

// Reporting reads reporting_params; of a word that means nothing bad says so
// ("" when there is none). accounting_flush_time is known and without effect:
// accounting records never wait.
func (c *Conf) Reporting() (r Reporting, bad string) {
	r = Reporting{Accounting: true, OldFormat: true, FlushTime: 15}
	unused := 0.0
	for word := range strings.FieldsFuncSeq(c.Get("reporting_params"), between) {
		name, text, _ := strings.Cut(word, "=")
		var ok bool
		switch strings.ToLower(name) {
		case "accounting":
			r.Accounting, ok = parseSwitch(text)
		case "old_accounting":
			r.OldFormat, ok = parseSwitch(text)
		case "reporting":
			r.Reporting, ok = parseSwitch(text)
		case "joblog":
			r.JobLog, ok = parseSwitch(text)
		case "log_consumables":
			r.Consumables, ok = parseSwitch(text)
		case "flush_time":
			r.FlushTime, ok = ParseTimeSpan(text)
		case "accounting_flush_time":
			unused, ok = ParseTimeSpan(text)
		case "sharelog":
			r.ShareLog, ok = ParseTimeSpan(text)
		default:
			return r, fmt.Sprintf("unknown parameter %q in reporting_params", name)
		}
		if !ok || max(r.FlushTime, r.ShareLog, unused) >= Infinity {
			return r, fmt.Sprintf("invalid value %q for %s in reporting_params", text, name)
		}
	}
	return r, ""
}

// parseSwitch reads true or false, in any case, or 1 or 0.
func parseSwitch(text string) (on, ok bool) {
	switch strings.ToLower(text) {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}

// Effective returns the global configuration with the parameters of a host in place of
// its own; local is nil for a host without any. Parameters that the global one does not
// set have the value of a new cell.
func (c *Conf) Effective(local *Conf) Values {
	v := slices.Clone(c.Entries)
	if c.Host == GlobalConf {
		for _, e := range defaultEntries {
			if _, set := v.Get(e.Name); !set {
				v = append(v, e)
			}
		}
	}
	if local != nil {
		for _, e := range local.Entries {
			v = v.With(e.Name, e.Text)
		}
	}
	return v
}

// Param looks a name up in the scheduler's params.
func (c *SchedConf) Param(name string) (string, bool) { return ParamIn(c.Params, name) }

// Interval is schedule_interval in seconds, 15 when it is not set.
func (c *SchedConf) Interval() float64 {
	if s, ok := c.ScheduleInterval.Seconds(); ok && s > 0 && s < Infinity {
		return s
	}
	return 15
}

// ReservationTolerance returns for how many seconds a reservation may move before it is published again: its start in
// the run of a moment may differ by these from the start that is published.
func (c *SchedConf) ReservationTolerance(now, start Time) float64 {
	return max(c.Interval(), 0.05*start.Sub(now))
}

// Immediate reports whether a run starts as soon as something changed, instead
// of waiting for schedule_interval and the flush times: params IMMEDIATE,
// true when not set.
func (c *SchedConf) Immediate() bool {
	text, ok := c.Param("IMMEDIATE")
	v, _ := CentryType("BOOL").Parse(text)
	return !ok || v != 0
}

// ParamIn looks a name up in a list like "A=1,B": elements are separated by
// commas or blanks, names are found in any case, an element without a value
// stands for "true".
func ParamIn(list, name string) (string, bool) {
	for e := range strings.FieldsFuncSeq(list, between) {
		k, v, given := strings.Cut(e, "=")
		if !strings.EqualFold(k, name) {
			continue
		}
		if !given {
			v = "true"
		}
		return v, true
	}
	return "", false
}

// ParamSet reports whether a name is in such a list, and neither false nor 0.
func ParamSet(list, name string) bool {
	v, ok := ParamIn(list, name)
	return ok && !strings.EqualFold(v, "false") && v != "0"
}

// between returns what separates the elements of a parameter list.
func between(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == ';' }
