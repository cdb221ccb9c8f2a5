package grid

import "strings"

// Get is the value of a parameter; one that is not set, or set to none, is "".
func (c *Conf) Get(name string) string {
	text, _ := c.Entries.Get(name)
	if strings.EqualFold(text, "none") {
		return ""
	}
	return text
}

// Param looks a name up in one of the configuration's parameter lists:
// Param("qmaster_params", "MAX_DYN_EC").
func (c *Conf) Param(list, name string) (string, bool) { return param(c.Get(list), name) }

// KeptOrders is for how many seconds, and up to how many bytes, qmaster keeps
// what schedulers ordered, so that their decisions can be repeated:
// qmaster_params KEEP_ORDERS_TIME, a time_specifier, a week when not set, and
// KEEP_ORDERS_SIZE, a memory_specifier, 1G when not set. With 0 for either
// nothing is kept. ok is false when one of them is no such value.
func (c *Conf) KeptOrders() (seconds, bytes float64, ok bool) {
	seconds, bytes = 7*24*3600, 1<<30
	if text, given := c.Param("qmaster_params", "KEEP_ORDERS_TIME"); given {
		if seconds, ok = ParseTimeSpan(text); !ok {
			return 0, 0, false
		}
	}
	if text, given := c.Param("qmaster_params", "KEEP_ORDERS_SIZE"); given {
		if bytes, ok = ParseMemory(text); !ok || bytes < 0 || bytes >= Infinity {
			return 0, 0, false
		}
	}
	return seconds, bytes, true
}

// Over is the effective configuration of a host: c's own parameters in the
// place of the global ones.
func (c *Conf) Over(global *Conf) Values {
	v := global.Entries
	for _, e := range c.Entries {
		v = v.With(e.Name, e.Text)
	}
	return v
}

// Param looks a name up in the scheduler's params.
func (c *SchedConf) Param(name string) (string, bool) { return param(c.Params, name) }

// Immediate says whether a run starts as soon as something changed, instead
// of waiting for schedule_interval and the flush times: params IMMEDIATE,
// true when not set.
func (c *SchedConf) Immediate() bool {
	text, ok := c.Param("IMMEDIATE")
	v, _ := CentryType("BOOL").Parse(text)
	return !ok || v != 0
}

// param looks a name up in a list like "A=1,B": elements are separated by
// commas or blanks, names are found in any case, an element without a value
// stands for "true".
func param(list, name string) (string, bool) {
	for _, e := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == ';' }) {
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
