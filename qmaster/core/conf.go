package core

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
	"github.com/quill-grid/quill/pkg/report"
)

// obeyed are the parameters of sge_conf(5) that do what they say.
var obeyed = grid.Names{"mailer", "administrator_mail", "load_sensor", "prolog", "epilog", "shell_start_mode", "login_shells", "min_uid", "min_gid",
	"user_lists", "xuser_lists", "projects", "xprojects", "enforce_project", "enforce_user", "load_report_time",
	"max_unheard", "reschedule_unknown", "qmaster_params", "execd_params", "reporting_params", "max_aj_instances",
	"max_aj_tasks", "max_u_jobs", "max_jobs", "auto_user_oticket", "auto_user_fshare", "auto_user_default_project",
	"auto_user_delete_time", "max_advance_reservations", "finished_jobs", "jsv_url", "jsv_allowed_mod"}

// Words of the parameters that are lists of words. What is not here is refused
// rather than ignored.
var (
	qmasterParams = grid.Names{"ENABLE_FORCED_QDEL", "ENABLE_FORCED_QDEL_IF_UNKNOWN", "ENABLE_RESCHEDULE_KILL", "DISABLE_AUTO_RESCHEDULING", "ENABLE_ENFORCE_MASTER_LIMIT",
		"FORBID_APPERROR", "FORBID_RESCHEDULE", "KEEP_ORDERS_TIME", "KEEP_ORDERS_SIZE", "KEEP_HISTORY_TIME", "KEEP_HISTORY_SIZE", "JSV_TIMEOUT", "JSV_THRESHOLD"}
	execdParams = grid.Names{"INHERIT_ENV", "USE_QSUB_GID", "ACCT_RESERVED_USAGE", "SHARETREE_RESERVED_USAGE", "USE_CGROUPS", "ENABLE_BINDING", "KEEP_ACTIVE", "NOTIFY_KILL", "NOTIFY_SUSP",
		"S_DESCRIPTORS", "H_DESCRIPTORS", "S_MAXPROC", "H_MAXPROC",
		"S_MEMORYLOCKED", "H_MEMORYLOCKED", "S_LOCKS", "H_LOCKS"}
	// PE_RANGE_ALG and JC_FILTER say how Grid Engine searches, and what they promise
	// always holds: of a range the largest amount that fits is found at once,
	// and a category that cannot start is not looked at again.
	schedParams = grid.Names{"IMMEDIATE", "MONITOR", "PROFILE", "PE_RANGE_ALG", "JC_FILTER", "DURATION_OFFSET", "DURATION_LIMIT", "DECAY", "PRIORITY_RANGE",
		"USER_SORT", "WEIGHT_TICKETS_DEADLINE", "SHARE_DEADLINE_TICKETS"}
)

func validConf(c *Core, o grid.Object) string {
	shipped := grid.DefaultConf().Entries
	for _, e := range o.(*grid.Conf).Entries {
		as, known := shipped.Get(e.Name)
		switch {
		case !known && e.Name != "max_advance_reservations": // not in a new configuration
			return fmt.Sprintf("denied: unknown configuration parameter %q", e.Name)
		case !obeyed.Has(e.Name) && e.Text != as && !strings.EqualFold(e.Text, "none"):
			return fmt.Sprintf("denied: %s is not supported by this version; leave it at %q", e.Name, as)
		case strings.HasPrefix(e.Name, "jsv_") && o.Key().Name != grid.GlobalConf:
			return fmt.Sprintf("denied: %s stands in the global configuration only", e.Name)
		}
		if t := c.badParameter(e); t != "" {
			return t
		}
	}
	return ""
}

func (c *Core) badParameter(e grid.Value) string {
	bad := fmt.Sprintf("denied: invalid value %q for %s", e.Text, e.Name)
	switch e.Name {
	case "mailer", "prolog", "epilog", "load_sensor":
		paths := []string{e.Text}
		if e.Name == "load_sensor" {
			paths = strings.Split(e.Text, ",")
		}
		for _, p := range paths {
			if !absolute(strings.TrimSpace(p)) {
				return fmt.Sprintf("denied: the path given for %q must start with a \"/\"", e.Name)
			}
		}
	case "load_report_time", "max_unheard", "reschedule_unknown":
		if _, ok := grid.ParseTimeSpan(e.Text); !ok {
			return bad
		}
	case "finished_jobs", "max_advance_reservations", "max_aj_instances", "max_aj_tasks", "max_u_jobs", "max_jobs", "min_uid", "min_gid", "auto_user_oticket",
		"auto_user_fshare", "auto_user_delete_time":
		if _, err := strconv.ParseUint(e.Text, 10, 32); err != nil {
			return bad
		}
	case "shell_start_mode":
		switch e.Text {
		case "posix_compliant", "unix_behavior", "script_from_stdin":
		default:
			return bad
		}
	case "enforce_project", "enforce_user":
		switch strings.ToLower(e.Text) {
		case "true", "false":
		case "auto":
			if e.Name == "enforce_project" {
				return bad
			}
		default:
			return bad
		}
	case "qmaster_params":
		conf := &grid.Conf{Entries: grid.Values{e}}
		if _, _, ok := conf.KeptOrders(); !ok {
			return bad
		}
		if _, _, ok := conf.KeptHistory(); !ok {
			return bad
		}
		if _, _, ok := conf.JSV(); !ok {
			return bad
		}
		return badParams(e.Name, e.Text, qmasterParams)
	case "execd_params":
		conf := &grid.Conf{Entries: grid.Values{e}}
		for _, name := range []string{"NOTIFY_KILL", "NOTIFY_SUSP"} {
			if signal, given := conf.Param(e.Name, name); given && !isSignal(strings.TrimPrefix(signal, "SIG")) {
				return fmt.Sprintf("denied: %s=%s in execd_params is no signal", name, signal)
			}
		}
		return badParams(e.Name, e.Text, execdParams)
	case "reporting_params":
		if _, bad := (&grid.Conf{Entries: grid.Values{e}}).Reporting(); bad != "" {
			return "denied: " + bad
		}
	case "jsv_url":
		if _, err := jsv.ServerURL(e.Text); err != nil && !strings.EqualFold(e.Text, "none") {
			return err.Error()
		}
	case "jsv_allowed_mod":
		return unknownMods(confNames(e.Text))
	case "user_lists", "xuser_lists":
		return c.missingLists(confNames(e.Text))
	case "projects", "xprojects":
		return c.missingProjects(confNames(e.Text))
	case "auto_user_default_project":
		return c.missingProjects(confNames(e.Text))
	}
	return ""
}

// badParams refuses words that a list of parameters does not know.
func badParams(name, text string, known grid.Names) string {
	for _, word := range confNames(text) {
		if key, _, _ := strings.Cut(word, "="); !known.Has(strings.ToUpper(key)) {
			return fmt.Sprintf("denied: %q in %s is not supported by this version; known are: %s", key, name, strings.Join(known, " "))
		}
	}
	return ""
}

// confNames reads a list of sge_conf(5).
func confNames(text string) grid.Names {
	if strings.EqualFold(text, "none") {
		return nil
	}
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

func confInUse(_ *Core, _ gdi.Request, o grid.Object) string {
	if o.Key().Name == grid.GlobalConf {
		return "denied: the global configuration can't be deleted"
	}
	return ""
}

// confChanged tells execution daemons their new configuration, also one that has come
// and not told its load yet.
func confChanged(c *Core, old, new grid.Object) {
	o := new
	if o == nil {
		o = old
	}
	for _, h := range c.state.ExecHosts() {
		if l := c.state.Load(h.Name); (l == nil || !l.Unheard) && h.Name != grid.GlobalHost && (o.Key().Name == grid.GlobalConf || o.Key().Name == h.Name) {
			c.instruct(h.Name)
		}
	}
}

// instruct tells a host its configuration.
func (c *Core) instruct(host string) {
	c.sent.hosts(host).instructed = c.now
	c.command(host).Conf = c.confFor(host)
}

// conform tells a host its configuration that follows another, unless what it was
// told last may be on its way.
func (c *Core) conform(r report.Report) {
	if r.Host == grid.GlobalHost || r.Conf == c.settingsOf(r.Host).conf {
		return
	}
	if r.Hello || c.now.Sub(c.sent.hosts(r.Host).instructed) >= resendSeconds {
		c.instruct(r.Host)
	}
}

// param is a parameter of the global configuration, "" when none or NONE.
func (c *Core) param(name string) string { return c.settings().text[name] }

// has says whether qmaster_params contains a word.
func (c *Core) has(word string) bool {
	return grid.ParamSet(c.param("qmaster_params"), word)
}

// number is a numeric parameter of the global configuration, 0 when not set.
func (c *Core) number(name string) uint32 { return c.settings().number(name) }

// confFor is a host's effective configuration: the local one over the global.
func (c *Core) confFor(host string) grid.Values {
	global := c.settings().global
	if l := c.state.Conf(host); l != nil {
		return l.Over(global)
	}
	return global.Entries
}
