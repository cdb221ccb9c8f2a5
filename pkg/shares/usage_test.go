package shares

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/state"
)

// TestUsage runs testdata/usage.txt: what a configuration makes of usage.
func TestUsage(t *testing.T) {
	conf := grid.DefaultSchedConf()
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	amounts := func(fields []string) (a grid.Amounts) {
		for _, f := range fields {
			name, v, _ := strings.Cut(f, "=")
			a[usageIndex(name)] = number(v)
		}
		return a
	}
	var b grid.Booking
	show := func(a grid.Amounts) string {
		return fmt.Sprintf("cpu=%.6g mem=%.6g io=%.6g finished_jobs=%.6g", a[0], a[1], a[2], a[3])
	}
	datadriven.RunTest(t, "testdata/usage.txt", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		if d.Cmd == "conf" {
			conf = grid.DefaultSchedConf()
			for _, a := range d.CmdArgs {
				value := strings.Join(a.Vals, ",")
				switch a.Key {
				case "halftime":
					conf.Halftime = uint32(number(value))
				case "halflife_decay_list":
					conf.HalflifeDecayList = value
				case "params":
					conf.Params = value
				case "usage_weight_list":
					conf.UsageWeightList = nil
					for _, v := range a.Vals {
						name, text, _ := strings.Cut(v, "=")
						conf.UsageWeightList = append(conf.UsageWeightList, grid.Value{Name: name, Text: text})
					}
				}
			}
		}
		p, err := NewUsagePolicy(conf)
		if err != nil {
			return err.Error() + "\n"
		}
		now := b.At
		for _, line := range strings.Split(d.Input, "\n") {
			f := strings.Fields(line)
			switch d.Cmd {
			case "combined":
				fmt.Fprintf(&out, "%.6g\n", p.Combined(amounts(f)))
			case "factor": // after minutes
				one := grid.Booking{Decayed: grid.Amounts{1, 1, 1, 1}}
				fmt.Fprintln(&out, f[0], show(p.At(&one, grid.Time(0).Add(60*number(f[0])))))
			case "book":
				now = now.Add(60 * number(f[0]))
				more := amounts(f[2:])
				var ended grid.Amounts
				if f[1] == "ended" { // what is reported here is all that the task consumed
					more[grid.UsageFinishedJobs] = 1
					ended = more
				}
				b = p.Book(b, now, more, ended)
				fmt.Fprintf(&out, "%s: decayed %s, long-term %s\n", f[1], show(b.Decayed), show(b.LongTerm))
			}
		}
		return out.String()
	})
}

// Ended tasks count against a leaf only where halflife_decay_list says how long.
func TestFinishedJobsCountIfConfigured(t *testing.T) {
	st := state.New()
	for _, o := range []grid.Object{
		&grid.User{Name: "alice"},
		&grid.ShareTree{
			Nodes: []grid.ShareNode{{Name: "Root", Shares: 1, Children: []uint32{1}}, {ID: 1, Name: "alice", Shares: 1}}},
	} {
		st.Apply(events.List{Events: []events.Event{events.Add(o)}})
	}
	for list, want := range map[string]float64{"": 0, "finished_jobs=0": 3, "finished_jobs=60": 1.5,
		"finished_jobs=-1": 0} {
		conf := grid.DefaultSchedConf()
		conf.HalflifeDecayList = list
		p, err := NewUsagePolicy(conf)
		if err != nil {
			t.Fatal(err)
		}
		b := grid.Booking{User: "alice"}
		for range 3 {
			one := grid.Amounts{grid.UsageFinishedJobs: 1}
			b = p.Book(b, 0, one, one)
		}
		st.Apply(events.List{Events: []events.Event{events.Mod(&b)}})
		leaf := NewTree(st, conf, grid.Time(0).Add(3600)).Leaf("alice", "")
		if leaf == nil || leaf.Finished != want {
			t.Errorf("%q: %v ended tasks count, want %v", list, leaf, want)
		}
	}
}
