package grid

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Parameter is a parameter of sge_conf(5), or a word of one that is a list of
// words.
type Parameter struct {
	Name string
	// NoEffect is why a parameter that Grid Engine 8.1.9 knows has no effect here:
	// it is stored and shown as given, with a warning. Empty: it does what it says.
	NoEffect string
	// Type is that of its values: INT, BOOL or TIME; empty: text.
	Type CentryType
	// List marks lists of names.
	List bool
	// Words are those that a list of words may contain; nil for other parameters.
	Words []Parameter
	// valid reports whether a text other than none is a value; nil: all are.
	valid func(text string) bool
	// path is set where valid asks for the whole path of a program.
	path bool
}

// Reasons for which a parameter has no effect.
const (
	noTransport  = "qrsh, qlogin and qrsh -inherit use the builtin transport"
	noTokens     = "AFS tokens are not handled"
	noThreads    = "it is about threads that qmaster does not have"
	noProfile    = "the daemons have no profiling by thread"
	noTuning     = "it adjusts an implementation that is different here"
	noSimulation = "hosts and jobs are never simulated in a cell"
	noSecurity   = "connections are always authenticated"
	noJVM        = "there is no JVM thread"
)

// parameters are all parameters of sge_conf(5) of 8.1.9. Others are refused.
var parameters = []Parameter{
	{Name: "execd_spool_dir", NoEffect: "the spool directory is the option --dir of quill execd"},
	{Name: "mailer", valid: IsProgram, path: true},
	{Name: "xterm", NoEffect: "qsh is not supported", valid: IsProgram, path: true},
	{Name: "load_sensor", valid: arePrograms, path: true},
	{Name: "prolog", valid: IsProgram, path: true},
	{Name: "epilog", valid: IsProgram, path: true},
	{Name: "shell_start_mode", valid: oneOf("posix_compliant", "unix_behavior", "script_from_stdin")},
	{Name: "login_shells", List: true},
	number("min_uid"),
	number("min_gid"),
	{Name: "user_lists", List: true},
	{Name: "xuser_lists", List: true},
	{Name: "projects", List: true},
	{Name: "xprojects", List: true},
	{Name: "enforce_project", Type: "BOOL", valid: isTrueFalse},
	{Name: "enforce_user", valid: func(text string) bool { return isTrueFalse(text) || strings.EqualFold(text, "auto") }},
	span("load_report_time"),
	span("max_unheard"),
	span("reschedule_unknown"),
	{Name: "loglevel", NoEffect: "the level is the option --log-level of each daemon",
		valid: oneOf("log_err", "log_warning", "log_info", "log_debug", "log_crit")},
	{Name: "administrator_mail"},
	{Name: "set_token_cmd", NoEffect: noTokens, valid: IsProgram, path: true},
	{Name: "pag_cmd", NoEffect: noTokens, valid: IsProgram, path: true},
	{Name: "token_extend_time", NoEffect: noTokens},
	{Name: "shepherd_cmd", NoEffect: "the shepherd is a part of execd", valid: IsProgram, path: true},
	{Name: "qmaster_params", Words: slices.Concat(
		used("ENABLE_FORCED_QDEL", "ENABLE_FORCED_QDEL_IF_UNKNOWN", "ENABLE_RESCHEDULE_KILL", "DISABLE_AUTO_RESCHEDULING",
			"ENABLE_ENFORCE_MASTER_LIMIT", "MAX_MAIL_RECIPIENTS", "FORBID_APPERROR", "FORBID_RESCHEDULE", "KEEP_ORDERS_TIME",
			"KEEP_ORDERS_SIZE",
			"KEEP_HISTORY_TIME", "KEEP_HISTORY_SIZE", "END_FORGOTTEN_JOBS", "JSV_TIMEOUT", "JSV_THRESHOLD",
			"LOGIN_ISSUER", "LOGIN_CLIENT", "LOGIN_AUDIENCE", "LOGIN_CLAIM", "LOGIN_USERS", "LOGIN_PRIVILEGED", "LOGIN_TIME",
			"LOGIN_SCOPE", "LOGIN_CERT"),
		unused("parallel jobs are rescheduled as a whole", "ENABLE_RESCHEDULE_SLAVE"),
		unused("the number of event clients is not limited", "MAX_DYN_EC"),
		unused(noThreads, "MONITOR_TIME", "LOG_MONITOR_MESSAGE"),
		unused(noProfile, "PROF_SIGNAL", "PROF_WORKER", "PROF_LISTENER", "PROF_DELIVER", "PROF_TEVENT", "PROF_SCHEDULER"),
		unused("usage is stored with every event", "STREE_SPOOL_INTERVAL"),
		unused(noTuning, "MAX_JOB_DELETION_TIME", "GDI_TIMEOUT", "GDI_RETRIES", "CL_PING",
			"SCHEDULER_TIMEOUT", "ENABLE_MTRACE",
			"__TEST_SLEEP_AFTER_REQUEST", "PRINT_MALLOC_INFO"),
		unused("rescheduled jobs keep their numbers and priorities", "OLD_RESCHEDULE_BEHAVIOR",
			"OLD_RESCHEDULE_BEHAVIOR_ARRAY_JOB"),
		unused(noSimulation, "SIMULATE_EXECDS"),
		unused(noSecurity, "NO_AUTHENTICATION", "NO_SECURITY"))},
	{Name: "execd_params", Words: slices.Concat(
		used("INHERIT_ENV", "USE_QSUB_GID", "ACCT_RESERVED_USAGE", "SHARETREE_RESERVED_USAGE", "USE_CGROUPS",
			"ENABLE_BINDING",
			"KEEP_ACTIVE", "NOTIFY_KILL", "NOTIFY_SUSP", "S_DESCRIPTORS", "H_DESCRIPTORS", "S_MAXPROC", "H_MAXPROC",
			"S_MEMORYLOCKED", "H_MEMORYLOCKED", "S_LOCKS", "H_LOCKS", "H_VMEM", "ISOLATE_DEVICES", "IO_WEIGHT"),
		unused("there are no hosts with Windows", "ENABLE_WINDOMACC"),
		unused("tasks have no additional group id", "IGNORE_NGROUPS_MAX_LIMIT", "ENABLE_ADDGRP_KILL"),
		unused("execd does not change the priority of running tasks", "PTF_MIN_PRIORITY", "PTF_MAX_PRIORITY"),
		unused(noProfile, "PROF_EXECD"),
		unused("execd sets no library path", "SET_LIB_PATH"),
		unused("usage is read from the control group, or from /proc", "PDC_INTERVAL", "USE_SMAPS"),
		unused(noSimulation, "SIMULATE_JOBS"),
		unused(noSecurity, "NO_AUTHENTICATION", "DO_AUTHENTICATION", "NO_SECURITY"),
		unused("execd logs on stderr", "USE_SYSLOG"),
		unused("use a load_sensor", "USE_QIDLE", "DEMAND_LS"),
		unused(noTuning, "PRINT_MALLOC_INFO"))},
	{Name: "reporting_params", Words: slices.Concat(
		used("ACCOUNTING", "OLD_ACCOUNTING", "REPORTING", "JOBLOG", "LOG_CONSUMABLES", "FLUSH_TIME", "SHARELOG"),
		unused("accounting records are written at once", "ACCOUNTING_FLUSH_TIME"))},
	number("finished_jobs"),
	{Name: "gid_range", NoEffect: "tasks have no additional group id: they are found by control group and session",
		valid: areGIDs},
	{Name: "qlogin_command", NoEffect: noTransport},
	{Name: "qlogin_daemon", NoEffect: noTransport, valid: isBuiltin, path: true},
	{Name: "rlogin_command", NoEffect: noTransport},
	{Name: "rlogin_daemon", NoEffect: noTransport, valid: isBuiltin, path: true},
	{Name: "rsh_command", NoEffect: noTransport},
	{Name: "rsh_daemon", NoEffect: noTransport, valid: isBuiltin, path: true},
	{Name: Starters, valid: areStarters},
	number("max_aj_instances"),
	number("max_aj_tasks"),
	number("max_u_jobs"),
	number("max_jobs"),
	number("max_advance_reservations"),
	number("auto_user_oticket"),
	number("auto_user_fshare"),
	{Name: "auto_user_default_project"},
	number("auto_user_delete_time"),
	{Name: "delegated_file_staging", NoEffect: "files are not staged", Type: "BOOL", valid: isBool},
	{Name: "reprioritize", NoEffect: "execd does not change the priority of running tasks", Type: "BOOL", valid: isBool},
	{Name: "jsv_url"},
	{Name: "jsv_allowed_mod"},
	{Name: "default_domain", NoEffect: "host names are compared as they are given"},
	{Name: "ignore_fqdn", NoEffect: "host names are compared as they are given"},
	{Name: "libjvm_path", NoEffect: noJVM},
	{Name: "additional_jvm_args", NoEffect: noJVM},
}

func number(name string) Parameter { return Parameter{Name: name, Type: "INT", valid: isNumber} }
func span(name string) Parameter   { return Parameter{Name: name, Type: "TIME", valid: isTimeSpan} }

func used(names ...string) []Parameter { return unused("", names...) }

func unused(why string, names ...string) (list []Parameter) {
	for _, n := range names {
		list = append(list, Parameter{Name: n, NoEffect: why})
	}
	return list
}

// Parameters are all parameters of the configuration, in the order in which a new
// cell shows them.
func Parameters() []Parameter { return slices.Clone(parameters) }

// ParameterOf returns a parameter of the configuration, nil when there is none of
// this name.
func ParameterOf(name string) *Parameter {
	for i := range parameters {
		if parameters[i].Name == name {
			return &parameters[i]
		}
	}
	return nil
}

// Word returns a word of a list of words, whose case does not matter; nil when
// the list may not contain it.
func (p *Parameter) Word(name string) *Parameter {
	for i := range p.Words {
		if strings.EqualFold(p.Words[i].Name, name) {
			return &p.Words[i]
		}
	}
	return nil
}

// Invalid returns why a text is no value of the parameter; empty when it is one.
func (p *Parameter) Invalid(text string) string {
	if text == "" || strings.EqualFold(text, "none") {
		return ""
	}
	if p.Name == Starters {
		if _, err := ParseStarters(text); err != nil {
			return fmt.Sprintf("got invalid value for %s: %v", p.Name, err)
		}
	}
	if p.valid != nil && !p.valid(text) {
		if p.path {
			return fmt.Sprintf("the path given for %q must start with a \"/\"", p.Name)
		}
		return fmt.Sprintf("got invalid value %q for %s", text, p.Name)
	}
	if p.Words == nil {
		return ""
	}
	for word := range strings.FieldsFuncSeq(text, between) {
		if key, _, _ := strings.Cut(word, "="); p.Word(key) == nil {
			return fmt.Sprintf("unknown parameter %q in %s", key, p.Name)
		}
	}
	return ""
}

// WithoutEffect returns what a text of the parameter sets that has no effect.
func (p *Parameter) WithoutEffect(text string) (out []string) {
	standard, _ := defaultEntries.Get(p.Name)
	if text == standard || strings.EqualFold(text, "none") {
		return nil
	}
	if p.NoEffect != "" {
		out = append(out, fmt.Sprintf("%s is stored but has no effect: %s", p.Name, p.NoEffect))
	}
	if p.Words != nil {
		for word := range strings.FieldsFuncSeq(text, between) {
			key, _, _ := strings.Cut(word, "=")
			if w := p.Word(key); w != nil && w.NoEffect != "" {
				out = append(out, fmt.Sprintf("%s in %s is stored but has no effect: %s", key, p.Name, w.NoEffect))
			}
		}
	}
	return out
}

func areStarters(text string) bool {
	_, err := ParseStarters(text)
	return err == nil
}

// IsProgram reports whether a program is named by its whole path, perhaps with the
// user who runs it (user@path), or there is none.
func IsProgram(text string) bool {
	if _, path, ok := strings.Cut(text, "@"); ok && !strings.HasPrefix(text, "/") {
		text = path
	}
	return text == "" || strings.EqualFold(text, "none") || strings.HasPrefix(text, "/")
}

func arePrograms(text string) bool {
	return !slices.ContainsFunc(strings.Split(text, ","), func(p string) bool { return !IsProgram(strings.TrimSpace(p)) })
}

func isBuiltin(text string) bool { return text == "builtin" || IsProgram(text) }

func isNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 32)
	return err == nil
}

func isTimeSpan(text string) bool {
	_, ok := ParseTimeSpan(text)
	return ok
}

func isBool(text string) bool {
	_, ok := CentryType("BOOL").Parse(text)
	return ok
}

// areGIDs reads gid_range: ranges of numbers from 100 on.
func areGIDs(text string) bool {
	for _, r := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(r), "-")
		if !isRange {
			to = from
		}
		m, err := strconv.ParseUint(from, 10, 32)
		n, err2 := strconv.ParseUint(to, 10, 32)
		if err != nil || err2 != nil || m < 100 || n < m {
			return false
		}
	}
	return true
}

func isTrueFalse(text string) bool {
	return strings.EqualFold(text, "true") || strings.EqualFold(text, "false")
}

func oneOf(words ...string) func(string) bool {
	return func(text string) bool { return slices.Contains(words, text) }
}
