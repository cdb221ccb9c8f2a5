package grid_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
)

func TestTimeSpans(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "0:0:15": 15, "00:05:00": 300, "00:00:60": 60, "3600": 3600, "24:00:00": 86400, "100:0:0": 360000,
		":30:": 1800, "1::": 3600, "0.5": 0.5, "INFINITY": grid.Infinity, "infinity": grid.Infinity,
	} {
		if got, ok := grid.ParseTimeSpan(text); !ok || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "x", ":", "1:30", "1:2:3:4", "-1", "1:-1", "1e3", "0x10", "1_0", "+1",
		" 1", "inf", "nan"} {
		if got, ok := grid.ParseTimeSpan(text); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
	for want, seconds := range map[string]float64{"00:00:00": 0, "00:01:05": 65, "100:00:00": 360000,
		"INFINITY": grid.Infinity} {
		if got := grid.FormatTimeSpan(seconds); got != want {
			t.Errorf("%v prints as %q, want %q", seconds, got, want)
		}
	}
}

func TestMemory(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "1": 1, "1k": 1000, "1K": 1024, "2m": 2e6, "2M": 2 << 20, "4g": 4e9, "4G": 4 << 30, "1t": 1e12, "1T": 1 << 40,
		"1.5G": 1.5 * (1 << 30), "0x10": 16, "010": 8, "0.000000M": 0, "INFINITY": grid.Infinity,
	} {
		if got, ok := grid.ParseMemory(text); !ok || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "G", "4Q", "4GB", "-1", "x", "1_0", "inf", "nan", "4 G"} {
		if got, ok := grid.ParseMemory(text); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestCentryTypes(t *testing.T) {
	for _, c := range []struct {
		kind grid.CentryType
		text string
		want float64
		ok   bool
	}{
		{"INT", "7", 7, true}, {"INT", "-7", -7, true}, {"INT", "2K", 2048, true}, {"INT", "1.5", 1.5, true},
		{"INT", "TRUE", 1, true},
		{"RSMAP", "2", 2, true}, {"RSMAP", "1.5", 0, false}, {"DOUBLE", "1k", 1000, true}, {"DOUBLE", "0x1f", 31, true},
		{"DOUBLE", "-1e2", -100, true},
		{"DOUBLE", "false", 0, true}, {"TIME", "1K", 1024, true}, {"TIME", "0x10", 16, true}, {"TIME", "True", 1, true},
		{"MEMORY", "TRUE", 1, true},
		{"INT", "nan", 0, false}, {"DOUBLE", "inf", 0, false}, {"DOUBLE", "-nan", 0, false}, {"MEMORY", "-1", 0, false},
		{"STRING", "TRUE", 0, false},
		{"DOUBLE", "1.5", 1.5, true}, {"DOUBLE", "INFINITY", grid.Infinity, true}, {"DOUBLE", "x", 0, false},
		{"BOOL", "TRUE", 1, true}, {"BOOL", "f", 0, true}, {"BOOL", "2", 0, false},
		{"TIME", "0:1:0", 60, true}, {"TIME", "1:0", 0, false}, {"MEMORY", "1K", 1024, true}, {"STRING", "7", 0, false},
	} {
		got, ok := c.kind.Parse(c.text)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s %q is %v, %v", c.kind, c.text, got, ok)
		}
	}
}

func TestTime(t *testing.T) {
	at := grid.TimeOf(time.UnixMilli(1700000000123))
	if at != 1700000000123 || at.Unix() != 1700000000 || at.Add(1.5).Sub(at) != 1.5 ||
		!at.Std().Equal(time.UnixMilli(1700000000123)) {
		t.Error(at)
	}
	if grid.TimeOf(time.Time{}) != 0 || !grid.Time(0).Std().IsZero() {
		t.Error("no time is not 0")
	}
}

// TestTaskLetters has the examples of the protocol reference: what qstat
// shows for a status and a set of states.
func TestTaskLetters(t *testing.T) {
	const (
		waiting = grid.StateQueued | grid.StateWaiting
		running = grid.StateRunning
	)
	for _, c := range []struct {
		want string
		d    grid.Display
	}{
		{"qw", grid.Display{State: waiting}},
		{"hqw", grid.Display{State: waiting, Hold: true}},
		{"hqw", grid.Display{State: waiting | grid.StateHeld}},
		{"Eqw", grid.Display{State: waiting | grid.StateError}},
		{"Ehqw", grid.Display{State: waiting | grid.StateError, Hold: true}},
		{"t", grid.Display{Status: grid.Transfering, State: running}},
		{"r", grid.Display{Status: grid.Running, State: running}},
		{"Rq", grid.Display{State: waiting, Restarted: true}},
		{"Rt", grid.Display{Status: grid.Transfering, State: running, Restarted: true}},
		{"Rr", grid.Display{Status: grid.Running, State: running, Restarted: true}},
		{"hRq", grid.Display{State: waiting, Hold: true, Restarted: true}},
		{"s", grid.Display{Status: grid.Running, State: grid.StateSuspended}},
		{"S", grid.Display{Status: grid.Running, State: running | grid.StateSuspendedSubordinate}},
		{"S", grid.Display{Status: grid.Running, State: running | grid.StateSuspendedPreempted}},
		{"T", grid.Display{Status: grid.Running, State: grid.StateSuspendedThreshold}},
		{"Ts", grid.Display{Status: grid.Running, State: grid.StateSuspendedThreshold | grid.StateSuspended}},
		{"dr", grid.Display{Status: grid.Running, State: running | grid.StateDeleted}},
		{"dt", grid.Display{Status: grid.Transfering, State: running | grid.StateDeleted}},
		{"ds", grid.Display{Status: grid.Running, State: grid.StateSuspended | grid.StateDeleted}},
		{"dTs",
			grid.Display{Status: grid.Running, State: grid.StateSuspended | grid.StateSuspendedThreshold | grid.StateDeleted}},
	} {
		if got := c.d.Letters(); got != c.want {
			t.Errorf("%+v shows %q, want %q", c.d, got, c.want)
		}
	}
}

func TestKeys(t *testing.T) {
	for want, k := range map[string]grid.Key{"7": {ID: 7}, "7.3": {ID: 7, Sub: 3},
		"7.3:1.h1": {ID: 7, Sub: 3, Name: "1.h1"}, "all.q": {Name: "all.q"}} {
		if k.String() != want {
			t.Errorf("%+v prints as %q", k, k)
		}
	}
	if (grid.Key{ID: 2}).Compare(grid.Key{ID: 10, Name: "a"}) >= 0 ||
		(grid.Key{Name: "a"}).Compare(grid.Key{Name: "b"}) >= 0 {
		t.Error("keys are not ordered by number, then name")
	}
}

// TestKinds holds the table: each kind once, with its own number and name, and
// objects that know their kind.
func TestKinds(t *testing.T) {
	names := map[string]bool{}
	for _, s := range grid.Kinds {
		if s.New().Kind() != s.Kind || grid.SpecOf(s.Kind).Name != s.Name || names[s.Name] {
			t.Errorf("row %d %s", s.Kind, s.Name)
		}
		names[s.Name] = true
	}
	if grid.Kind(200).String() != "KIND200" {
		t.Error(grid.Kind(200))
	}
}

// Of several groups none decides, also when they say the same; the host itself
// does.
func TestExceptionsForHosts(t *testing.T) {
	q := grid.DefaultCQueue("all.q")
	q.Slots = grid.PerHost[int32]{Value: 1, At: []grid.At[int32]{{Target: "@big", Value: 8}, {Target: "@all", Value: 2},
		{Target: "h1", Value: 4}}}
	q.HRT.At = []grid.At[grid.TimeText]{{Target: "@all", Value: "60"}, {Target: "@big", Value: "60"}}
	q.SeqNo.At = []grid.At[int32]{{Target: "@big", Value: 7}}
	members := map[string]grid.Names{"@big": {"h1", "h2"}, "@all": {"h1", "h2", "h3"}}
	for host, want := range map[string]string{
		"h1": `4 INFINITY 7 [warning: "h_rt" has ambiguous value ("@all", "@big")]`,
		"h2": `1 INFINITY 7 [warning: "slots" has ambiguous value ("@big", "@all") warning: "h_rt" has ambiguous value ("@all", "@big")]`,
		"h3": "2 60 0 []", "h4": "1 INFINITY 0 []",
	} {
		in := func(group string) bool { return members[group].Has(host) }
		if got := fmt.Sprintf("%d %s %d %v", q.Slots.For(host, in), q.HRT.For(host, in), q.SeqNo.For(host, in),
			q.Contested().Ambiguous(host, in)); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

func TestParameterLists(t *testing.T) {
	c := grid.DefaultConf()
	if c.Get("load_report_time") != "00:00:40" || c.Get("load_sensor") != "" || c.Get("nosuch") != "" {
		t.Error(c.Entries)
	}
	if v, ok := c.Param("reporting_params", "JOBLOG"); v != "false" || !ok {
		t.Error(v, ok)
	}
	if _, ok := c.Param("qmaster_params", "ANY"); ok {
		t.Error("none is a list of one")
	}
	local := &grid.Conf{Host: "h1", Entries: grid.Values{{Name: "qmaster_params", Text: "A=1,flag;C=x=y"},
		{Name: "mailer", Text: "/bin/m"}}}
	for name, want := range map[string]string{"a": "1", "FLAG": "true", "C": "x=y", "D": ""} {
		if v, ok := local.Param("qmaster_params", name); v != want || ok != (want != "") {
			t.Errorf("%s is %q, %v", name, v, ok)
		}
	}
	if v := c.Effective(local); len(v) != len(c.Entries) {
		t.Error(v)
	} else if m, _ := v.Get("mailer"); m != "/bin/m" {
		t.Error(m)
	}
	few := &grid.Conf{Host: grid.GlobalConf, Entries: grid.Values{{Name: "mailer", Text: "/bin/m"}}}
	if v, _ := few.Effective(nil).Get("max_aj_tasks"); v != "75000" || few.Get("max_aj_tasks") != "75000" {
		t.Errorf("a parameter that is not named is %q", v)
	}
	for _, e := range grid.DefaultConf().Entries {
		if p := grid.ParameterOf(e.Name); p == nil || p.Invalid(e.Text) != "" || p.WithoutEffect(e.Text) != nil {
			t.Errorf("%s of a new cell is not known, invalid or warned about", e.Name)
		}
	}
	for text, want := range map[string]string{
		"none": "604800 1.073741824e+09 true", "KEEP_ORDERS_TIME=24:0:0": "86400 1.073741824e+09 true",
		"FORBID_APPERROR keep_orders_size=64M,KEEP_ORDERS_TIME=INFINITY": fmt.Sprint(grid.Infinity, " 6.7108864e+07 true"),
		"KEEP_ORDERS_SIZE=0": "604800 0 true", "KEEP_ORDERS_TIME=long": "0 0 false", "KEEP_ORDERS_SIZE=INFINITY": "0 0 false",
		"KEEP_ORDERS_SIZE=-1": "0 0 false",
	} {
		c := grid.Conf{Entries: grid.Values{{Name: "qmaster_params", Text: text}}}
		seconds, bytes, ok := c.KeptOrders()
		if got := fmt.Sprint(seconds, " ", bytes, " ", ok); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"none": fmt.Sprint(grid.Infinity, " 1.7179869184e+10 true"),
		"KEEP_HISTORY_TIME=720:0:0,KEEP_HISTORY_SIZE=2G": "2.592e+06 2.147483648e+09 true",
		"KEEP_HISTORY_SIZE=INFINITY":                     fmt.Sprint(grid.Infinity, " ", grid.Infinity, " true"),
		"KEEP_HISTORY_SIZE=0":                            fmt.Sprint(grid.Infinity, " 0 false"),
		"KEEP_HISTORY_TIME=0":                            "0 1.7179869184e+10 false",
		"KEEP_HISTORY_TIME=long":                         "0 0 false",
		"KEEP_HISTORY_SIZE=-1":                           fmt.Sprint(grid.Infinity, " 0 false"),
	} {
		c := grid.Conf{Entries: grid.Values{{Name: "qmaster_params", Text: text}}}
		seconds, bytes, ok := c.KeptHistory()
		if got := fmt.Sprint(seconds, " ", bytes, " ", ok); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	s := grid.DefaultSchedConf()
	if !s.Immediate() {
		t.Error("immediate mode is off by default")
	}
	for text, want := range map[string]bool{"IMMEDIATE=false": false, "MONITOR=1,immediate=0": false,
		"IMMEDIATE": true, "none": true} {
		if s.Params = text; s.Immediate() != want {
			t.Errorf("params %s: immediate %v", text, s.Immediate())
		}
	}
}

// TestFreshCell looks for what a cell cannot do without.
func TestFreshCell(t *testing.T) {
	keys := map[string]bool{}
	for _, o := range grid.FreshCell() {
		name := o.Kind().String() + " " + o.Key().String()
		if keys[name] {
			t.Errorf("%s is there twice", name)
		}
		keys[name] = true
	}
	for _, name := range []string{"CONFIG global", "SCHED_CONF schedconf", "CQUEUE all.q", "HGROUP @allhosts", "PE make",
		"EXECHOST global",
		"CENTRY slots", "CENTRY h_rt", "USERSET deadlineusers", "USERSET defaultdepartment"} {
		if !keys[name] {
			t.Errorf("no %s", name)
		}
	}
}

func TestTextOfValues(t *testing.T) {
	v := grid.Values{{Name: "A", Text: "1"}, {Name: "SGE_O_HOME", Text: "/home/alice"}, {Name: "B"}}
	if got := v.AsGiven().Text(); got != "A=1,B=NONE" {
		t.Errorf("as given: %s", got)
	}
	if got := v.Text(); got != "A=1,SGE_O_HOME=/home/alice,B=NONE" {
		t.Errorf("whole: %s", got)
	}
}

func TestSameHost(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"node1", "NODE1", true}, {"node1", "node1.example.com", true}, {"node1.example.com", "node1", true},
		{"node1.example.com", "node1.example.org", false}, {"node1", "node2", false},
	} {
		if grid.SameHost(c.a, c.b) != c.same {
			t.Errorf("%s and %s: not %t", c.a, c.b, c.same)
		}
	}
}

func TestAssigned(t *testing.T) {
	var a grid.Assigned
	if a.Drop(grid.Values{{Name: "A"}}); a.Values() != nil {
		t.Errorf("nothing was set: %v", a.Values())
	}
	a.Set(grid.Value{Name: "A", Text: "1"}, grid.Value{Name: "B", Text: "2"}, grid.Value{Name: "A", Text: "3"},
		grid.Value{Name: "", Text: "4"})
	if got := a.Values().Text(); got != "A=3,B=2,=4" {
		t.Errorf("set: %s", got)
	}
	a.Drop(grid.Values{{Name: "A"}, {Name: "C"}})
	if got := a.Values().Text(); got != "B=2,=4" {
		t.Errorf("dropped: %s", got)
	}
	a.Set(grid.Value{Name: "A", Text: "5"})
	if got := a.Values().Text(); got != "B=2,=4,A=5" {
		t.Errorf("set again: %s", got)
	}
}
