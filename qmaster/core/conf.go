package core

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/jsv"
	"github.com/quill-grid/quill/pkg/report"
)

// SchedParams are the words of params of sched_conf(5). PE_RANGE_ALG and JC_FILTER
// say how Grid Engine searches, and what they promise always holds: of a range the
// largest amount that fits is found at once, and a category that cannot start is
// not looked at again.
var SchedParams = grid.Names{"IMMEDIATE", "MONITOR", "PROFILE", "PE_RANGE_ALG", "JC_FILTER", "DURATION_OFFSET", "DURATION_LIMIT", "DECAY", "PRIORITY_RANGE",
	"USER_SORT", "WEIGHT_TICKETS_DEADLINE", "SHARE_DEADLINE_TICKETS"}

func validConf(c *Core, o grid.Object) string {
	entries := o.(*grid.Conf).Entries
	if len(entries) == 0 {
		return fmt.Sprintf("denied: the configuration of %q has no parameters", o.Key())
	}
	for _, e := range entries {
		p := grid.ParameterOf(e.Name)
		switch {
		case p == nil:
			return fmt.Sprintf("denied: unknown configuration parameter %q", e.Name)
		case strings.HasPrefix(e.Name, "jsv_") && o.Key().Name != grid.GlobalConf:
			return fmt.Sprintf("denied: %s stands in the global configuration only", e.Name)
		}
		if t := p.Invalid(e.Text); t != "" {
			return "denied: " + t
		}
		if t := c.badParameter(e); t != "" {
			return t
		}
	}
	return ""
}

// confWithoutEffect returns which parameters of a new configuration, or of those
// that changed, have no effect.
func confWithoutEffect(old, new grid.Object) (out []string) {
	var was grid.Values
	if old != nil {
		was = old.(*grid.Conf).Entries
	}
	for _, e := range new.(*grid.Conf).Entries {
		if before, set := was.Get(e.Name); !set || before != e.Text {
			out = append(out, grid.ParameterOf(e.Name).WithoutEffect(e.Text)...)
		}
	}
	return out
}

// badParameter is what a parameter's text demands of the cell, and what its words
// say.
func (c *Core) badParameter(e grid.Value) string {
	bad := fmt.Sprintf("denied: got invalid value %q for %s", e.Text, e.Name)
	switch e.Name {
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
		if _, wrong := conf.Logins(); wrong != "" {
			return "denied: " + wrong
		}
	case "execd_params":
		conf := &grid.Conf{Entries: grid.Values{e}}
		for _, name := range []string{"NOTIFY_KILL", "NOTIFY_SUSP"} {
			if signal, given := conf.Param(e.Name, name); given && !isSignal(strings.TrimPrefix(signal, "SIG")) {
				return fmt.Sprintf("denied: %s=%s in execd_params is no signal", name, signal)
			}
		}
		if by, given := conf.Param(e.Name, "H_VMEM"); given && !slices.Contains([]string{"cgroup", "rlimit", "both"}, by) {
			return fmt.Sprintf("denied: H_VMEM=%s in execd_params is not cgroup, rlimit or both", by)
		}
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
	}
	return ""
}

func confRefers(c *Core, o grid.Object) *gdi.Answer {
	for _, e := range o.(*grid.Conf).Entries {
		var refusal *gdi.Answer
		switch e.Name {
		case "user_lists", "xuser_lists":
			refusal = c.missing(e.Name, grid.KindUserset, confNames(e.Text))
		case "projects", "xprojects", "auto_user_default_project":
			refusal = c.missing(e.Name, grid.KindProject, confNames(e.Text))
		}
		if refusal != nil {
			return refusal
		}
	}
	return nil
}

// confNames reads a list of sge_conf(5).
func confNames(text string) grid.Names {
	if strings.EqualFold(text, "none") {
		return nil
	}
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

func confInUse(_ *Core, o grid.Object) string {
	if o.Key().Name == grid.GlobalConf {
		return "denied: the global configuration can't be deleted"
	}
	return ""
}

// confChanged sends the changed configuration to the hosts that it applies to, including
// hosts that have registered but not yet reported a load.
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

// instruct sends a host its configuration.
func (c *Core) instruct(host string) {
	c.sent.hosts(host).instructed = c.now
	c.command(host).Conf = c.confFor(host)
}

// conform sends a host its configuration if the host reports another one, unless the
// configuration sent last may still be on its way.
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

// has reports whether qmaster_params contains a word.
func (c *Core) has(word string) bool {
	return grid.ParamSet(c.param("qmaster_params"), word)
}

// number is a numeric parameter of the global configuration, 0 when not set.
func (c *Core) number(name string) uint32 { return c.settings().number(name) }

// confFor is a host's effective configuration: the local one over the global.
func (c *Core) confFor(host string) grid.Values {
	return c.settings().global.Effective(c.state.Conf(host))
}
