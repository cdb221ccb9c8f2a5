package ticket

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/shares"
)

// validate refuses what this algorithm would have to ignore, sched_conf(5).
func validate(c grid.SchedConf) error {
	switch c.QueueSortMethod {
	case "", "load", "seqno":
	default:
		return fmt.Errorf("queue_sort_method %q: neither load nor seqno", c.QueueSortMethod)
	}
	switch info, _, _ := strings.Cut(c.ScheddJobInfo, " "); info {
	case "", "true", "false", "job_list":
	default:
		return fmt.Errorf("schedd_job_info %q: neither true, false nor job_list", c.ScheddJobInfo)
	}
	if err := shares.CheckConfig(&c); err != nil {
		return err
	}
	if strings.EqualFold(c.LoadFormula, "none") || c.LoadFormula == "" {
		return nil
	}
	for term := range strings.FieldsFuncSeq(c.LoadFormula, func(r rune) bool { return r == '+' || r == '-' }) {
		if i := strings.IndexAny(term, "*/&|^"); i >= 0 && strings.ContainsAny(term[i+1:], "*/&|^") {
			return fmt.Errorf("load_formula %q: more than one operator in %q", c.LoadFormula, term)
		}
	}
	return nil
}

// settings is the configuration with what its params say of priorities.
type settings struct {
	*grid.SchedConf
	fixed  bool    // PRIORITY_RANGE
	pool   float64 // WEIGHT_TICKETS_DEADLINE: of deadline tickets
	shared bool    // SHARE_DEADLINE_TICKETS: jobs share them
}

func newSettings(c *grid.SchedConf) *settings {
	s := &settings{SchedConf: c, shared: true}
	if text, ok := c.Param("PRIORITY_RANGE"); ok {
		s.fixed = strings.EqualFold(text, "fixed")
	}
	if text, ok := c.Param("WEIGHT_TICKETS_DEADLINE"); ok {
		s.pool, _ = strconv.ParseFloat(text, 64)
	}
	if text, ok := c.Param("SHARE_DEADLINE_TICKETS"); ok {
		v, _ := grid.CentryType("BOOL").Parse(text)
		s.shared = v != 0
	}
	return s
}
