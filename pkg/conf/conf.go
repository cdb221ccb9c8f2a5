package conf

import (
	"reflect"

	"github.com/quill-grid/quill/pkg/grid"
)

// numbers and times are the parameters of sge_conf(5) that are no free text.
var (
	numbers = grid.Names{
		"min_uid", "min_gid", "finished_jobs", "max_aj_instances", "max_aj_tasks", "max_u_jobs", "max_jobs",
		"auto_user_oticket", "auto_user_fshare", "auto_user_delete_time", "reprioritize", "max_advance_reservations",
	}
	times = grid.Names{"load_report_time", "max_unheard", "reschedule_unknown"}
	// rare ones are not in the default configuration.
	rare = grid.Names{"ignore_fqdn", "default_domain", "libjvm_path", "additional_jvm_args", "max_advance_reservations"}
)

// parseConf reads the global or a host's configuration: parameters of
// sge_conf(5), each once.
func parseConf(text string, c *grid.Conf) error {
	lines, err := readLines(text)
	if err != nil {
		return err
	}
	known := grid.DefaultConf().Entries
	seen := map[string]bool{}
	for _, l := range lines {
		if _, ok := known.Get(l.Name); !ok && !rare.Has(l.Name) {
			return refuse("unknown attribute name %q", l.Name)
		}
		if seen[l.Name] {
			return refuse("attribute %q appears more than once", l.Name)
		}
		seen[l.Name] = true
		if err := checkParameter(l); err != nil {
			return err
		}
	}
	c.Entries = lines
	return nil
}

func checkParameter(e grid.Value) error {
	a := attribute{name: e.Name, empty: "none"}
	switch {
	case numbers.Has(e.Name):
		return a.parseOne(e.Text, reflect.New(reflect.TypeFor[uint32]()).Elem())
	case times.Has(e.Name):
		return a.parseOne(e.Text, reflect.New(reflect.TypeFor[grid.TimeText]()).Elem())
	case e.Name == "loglevel" && !grid.Names{"log_err", "log_warning", "log_info", "log_debug", "log_crit"}.Has(e.Text):
		return a.bad(e.Text)
	}
	return nil
}
