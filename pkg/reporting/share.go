package reporting

import (
	"strconv"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/view"
)

// sharelog writes the share tree if a multiple of the interval lies between the list
// before and this one.
func (w *Writer) sharelog() {
	every := int64(w.conf.ShareLog)
	if !w.conf.Reporting || every <= 0 || w.now/every == w.state.At.Unix()/every {
		return
	}
	style := ShareStyle{
		Text: func(s string) string { return s },
		Time: func(t grid.Time) string { return strconv.FormatInt(t.Unix(), 10) },
	}
	for _, s := range view.Shares(w.state, w.list.At, false) {
		w.begin("sharelog")
		for _, f := range ShareFields {
			w.text(f.Text(s, style))
		}
		w.dst = append(w.dst, ':')
		w.end()
	}
}

// ShareField is a field of sharelog records and a column of sge_share_mon.
type ShareField struct {
	Name string
	Text func(*view.Share, ShareStyle) string
}

// ShareStyle is how texts and times are printed.
type ShareStyle struct {
	Text func(string) string
	Time func(grid.Time) string
}

// ShareFields are the fields in the order in which they are printed.
var ShareFields = []ShareField{
	{"curr_time", func(n *view.Share, s ShareStyle) string { return s.Time(n.At) }},
	{"usage_time", func(n *view.Share, s ShareStyle) string {
		if n.Booked == 0 {
			return "0"
		}
		return s.Time(n.Booked)
	}},
	{"node_name", func(n *view.Share, s ShareStyle) string { return s.Text(n.Path) }},
	{"user_name", func(n *view.Share, s ShareStyle) string { return s.Text(n.User) }},
	{"project_name", func(n *view.Share, s ShareStyle) string { return s.Text(n.Project) }},
	{"shares", func(n *view.Share, _ ShareStyle) string { return strconv.Itoa(n.Shares) }},
	{"job_count", func(n *view.Share, _ ShareStyle) string { return strconv.Itoa(n.Jobs) }},
	{"level%", func(n *view.Share, _ ShareStyle) string { return six(n.Level) }},
	{"total%", func(n *view.Share, _ ShareStyle) string { return six(n.Total) }},
	{"long_target_share", func(n *view.Share, _ ShareStyle) string { return six(n.LongTarget) }},
	{"short_target_share", func(n *view.Share, _ ShareStyle) string { return six(n.ShortTarget) }},
	{"actual_share", func(n *view.Share, _ ShareStyle) string { return six(n.Actual) }},
	{"usage", func(n *view.Share, _ ShareStyle) string { return six(n.Usage) }},
	{"cpu", func(n *view.Share, _ ShareStyle) string { return six(n.Values[grid.UsageCPU]) }},
	{"mem", func(n *view.Share, _ ShareStyle) string { return six(n.Values[grid.UsageMem]) }},
	{"io", func(n *view.Share, _ ShareStyle) string { return six(n.Values[grid.UsageIO]) }},
	{"ltcpu", func(n *view.Share, _ ShareStyle) string { return six(n.LongTerm[grid.UsageCPU]) }},
	{"ltmem", func(n *view.Share, _ ShareStyle) string { return six(n.LongTerm[grid.UsageMem]) }},
	{"ltio", func(n *view.Share, _ ShareStyle) string { return six(n.LongTerm[grid.UsageIO]) }},
}

func six(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) }
