package core

import (
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
)

// Conf is what execd needs of its host's effective configuration, sge_conf(5).
type Conf struct {
	LoadReportTime float64 // seconds between load reports
	Mailer         string
	LoadSensors    []string
	Prolog, Epilog string
	ShellStartMode string
	LoginShells    []string
	Starters       []grid.Starter // of containers

	InheritEnv bool // execd_params INHERIT_ENV: execd's own environment leaks into jobs
	QsubGID    bool // USE_QSUB_GID
	Cgroups    bool // USE_CGROUPS: a control group for each attempt, where there can be one
	Devices    bool // ISOLATE_DEVICES: devices of instances of resource maps are closed to jobs that do not have them
	IOWeight   bool // IO_WEIGHT: slots share busy disks
	Binding    bool // ENABLE_BINDING: jobs are bound to cores
	Reserved   bool // SHARETREE_RESERVED_USAGE: time alone is usage, and is reported
	Keep       bool // KEEP_ACTIVE: the folders of attempts stay when those have ended

	HVMem                     string // H_VMEM: byGroup, byAddress or byBoth
	NotifyKill, NotifySuspend string // NOTIFY_KILL, NOTIFY_SUSP: the signals that warn; "" as usual, none
	// Limits of execd_params, by name: S_DESCRIPTORS, H_DESCRIPTORS, ...
	Limits grid.Values
	// Of qmaster_params: whether a job may say by its exit status that it begins
	// again (99) or gets into error (100).
	MayRestart, MayFail bool
	// Unsupported names what is set and has no effect here.
	Unsupported []string
}

// loadReportTime is sge_conf(5)'s default, 40 seconds.
const loadReportTime = 40

// ParseConf reads parameters as written; what is missing or none has Grid
// Engine's default.
func ParseConf(v grid.Values) Conf {
	c := Conf{LoadReportTime: loadReportTime, InheritEnv: true, Binding: true, Cgroups: true, Devices: true,
		HVMem: byGroup, ShellStartMode: "posix_compliant", LoginShells: []string{"sh", "bash", "ksh", "csh", "tcsh"}}
	text := func(name string) string {
		t, _ := v.Get(name)
		if strings.EqualFold(t, "none") {
			return ""
		}
		return t
	}
	if s, ok := grid.ParseTimeSpan(text("load_report_time")); ok && s > 0 {
		c.LoadReportTime = s
	}
	c.Mailer, c.Prolog, c.Epilog = text("mailer"), text("prolog"), text("epilog")
	c.LoadSensors = splitList(text("load_sensor"))
	c.Starters, _ = grid.ParseStarters(text(grid.Starters)) // it was checked when it was set
	if m := text("shell_start_mode"); m != "" {
		c.ShellStartMode = m
	}
	if t, ok := v.Get("login_shells"); ok {
		c.LoginShells = splitList(t)
	}
	c.MayRestart, c.MayFail = !grid.ParamSet(text("qmaster_params"), "FORBID_RESCHEDULE"),
		!grid.ParamSet(text("qmaster_params"), "FORBID_APPERROR")
	for _, p := range strings.FieldsFunc(text("execd_params"), func(r rune) bool { return r == ',' || r == ' ' }) {
		c.applyParam(p)
	}
	return c
}

func (c *Conf) applyParam(p string) {
	name, value, _ := strings.Cut(p, "=")
	name = strings.ToUpper(name)
	on := value == "" || value == "1" || strings.EqualFold(value, "true") || strings.EqualFold(value, "yes")
	switch name {
	case "INHERIT_ENV":
		c.InheritEnv = on
	case "USE_QSUB_GID":
		c.QsubGID = on
	case "USE_CGROUPS":
		c.Cgroups = on
	case "ISOLATE_DEVICES":
		c.Devices = on
	case "IO_WEIGHT":
		c.IOWeight = on
	case "H_VMEM":
		c.HVMem = value
	case "ENABLE_BINDING":
		c.Binding = on
	case "SHARETREE_RESERVED_USAGE":
		c.Reserved = on
	case "KEEP_ACTIVE":
		c.Keep = on
	case "NOTIFY_KILL":
		c.NotifyKill = value
	case "NOTIFY_SUSP":
		c.NotifySuspend = value
	case "ACCT_RESERVED_USAGE": // accounting is qmaster's
	case "S_DESCRIPTORS", "H_DESCRIPTORS", "S_MAXPROC", "H_MAXPROC", "S_MEMORYLOCKED", "H_MEMORYLOCKED",
		"S_LOCKS", "H_LOCKS":
		c.Limits = c.Limits.With(name, value)
	default:
		c.Unsupported = append(c.Unsupported, name)
	}
}

// isLoginShell reports whether a shell is started as a login shell.
func (c *Conf) isLoginShell(shell string) bool {
	return slices.Contains(c.LoginShells, shell[strings.LastIndexByte(shell, '/')+1:])
}

func splitList(t string) []string {
	if t == "" || strings.EqualFold(t, "none") {
		return nil
	}
	l := strings.FieldsFunc(t, func(r rune) bool { return r == ',' })
	for i := range l {
		l[i] = strings.TrimSpace(l[i])
	}
	return l
}

// Values of H_VMEM in the execd_params of sge_conf(5): what h_vmem and s_vmem limit. Where a job has no control group
// it is always the address space.
const (
	byGroup   = "cgroup" // the memory of the control group
	byAddress = "rlimit" // the address space
	byBoth    = "both"
)
