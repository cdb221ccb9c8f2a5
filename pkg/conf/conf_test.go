package conf_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/quill-grid/quill/pkg/conf"
	"github.com/quill-grid/quill/pkg/grid"
)

// fill gives each attribute below v a legal value of its own.
func fill(v reflect.Value, n *int) {
	*n++
	switch x := v.Addr().Interface().(type) {
	case *grid.TimeText:
		*x = grid.TimeText(fmt.Sprintf("%d:00:00", *n))
		return
	case *grid.MemText:
		*x = grid.MemText(fmt.Sprintf("%dG", *n))
		return
	case *grid.Time:
		*x = grid.Time(*n * 1000)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch tag := f.Tag.Get("conf"); {
			case tag == "-" || f.Name == "Version" || f.Name == "Usage":
			case strings.HasPrefix(tag, "qtype"):
				v.Field(i).Set(reflect.ValueOf(grid.PerHost[grid.Names]{Value: grid.Names{"BATCH"},
					At: []grid.At[grid.Names]{{Target: "h1", Value: grid.Names{"BATCH", "INTERACTIVE"}}}}))
			default:
				fill(v.Field(i), n)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range 3 {
			fill(v.Index(i), n)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text%03d", *n))
	case reflect.Bool:
		v.SetBool(*n%2 == 0)
	case reflect.Uint32:
		v.SetUint(uint64(*n))
	case reflect.Int32:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.25)
	default:
		panic("no value for a " + v.Type().String())
	}
}

// samples are two objects of each kind that has text: one as offered by
// qconf -aX, one with every attribute set.
func samples(t *testing.T) map[string]grid.Object {
	all := map[string]grid.Object{}
	for _, s := range grid.Kinds {
		if s.Qconf == "" && s.Kind != grid.KindSchedConf {
			continue
		}
		if o := grid.Default(s.Kind, "x"); o != nil && s.Kind != grid.KindConf { // which has no parameters
			all[s.Name+"-default"] = o
		}
		o, n := s.New(), 0
		fill(reflect.ValueOf(o).Elem(), &n)
		switch o := o.(type) {
		case *grid.Centry:
			*o = grid.Centry{Name: "gpu", Shortcut: "g", Type: "INT", Relop: "<=", Requestable: "FORCED", Consumable: "JOB",
				Default: "1", Urgency: "2.5"}
		case *grid.Conf:
			*o = *grid.DefaultConf()
		case *grid.Userset:
			o.Type = "ACL DEPT"
		case *grid.Ckpt:
			o.When = "xsr"
		case *grid.RQS:
			o.Limits = grid.Names{"name a users {*} to slots=1", "hosts {@a,!h1} to slots=$num_proc*2,mem_free=1G"}
		case *grid.ShareTree:
			o.Nodes = []grid.ShareNode{{ID: 0, Name: "Root", Shares: 1, Children: []uint32{1, 2}},
				{ID: 1, Type: 1, Name: "p", Shares: 2}, {ID: 2, Name: "u"}}
		}
		all[s.Name+"-filled"] = o
	}
	if len(all) < 25 {
		t.Fatalf("only %d samples", len(all))
	}
	return all
}

func TestEveryKindIsReadAsItIsPrinted(t *testing.T) {
	for name, o := range samples(t) {
		for _, style := range []conf.Style{{}, {SingleLine: true}} {
			got := grid.SpecOf(o.Kind()).New()
			if c, ok := got.(*grid.Conf); ok {
				c.Host = o.Key().Name
			}
			text := style.Format(o)
			if err := conf.Parse(text, got); err != nil {
				t.Errorf("%s: %v\n%s", name, err, text)
			} else if d := cmp.Diff(o, got); d != "" {
				t.Errorf("%s: %s\n%s", name, d, text)
			}
			if !style.SingleLine {
				for _, l := range strings.Split(text, "\n") {
					if len(l) > 80 && strings.ContainsAny(l[40:], ", ") && !strings.HasPrefix(l, "#") && o.Kind() != grid.KindCentry {
						t.Errorf("%s: a line of %d columns: %s", name, len(l), l)
					}
				}
			}
		}
	}
}

func TestEveryAttributeCanBeSetAlone(t *testing.T) {
	for name, o := range samples(t) {
		for _, attr := range conf.Attributes(o.Kind()) {
			if attr == "limit" {
				continue // a list of rules, not of words
			}
			text, ok := conf.Get(o, attr)
			if !ok {
				t.Errorf("%s has no %s", name, attr)
				continue
			}
			got, err := conf.Set(o, attr, text)
			if err != nil {
				t.Errorf("%s %s: %v", name, attr, err)
			} else if d := cmp.Diff(o, got); d != "" {
				t.Errorf("%s %s: %s", name, attr, d)
			}
		}
	}
}

// FuzzParse: no text makes a panic, and what was read is printed so that it
// reads the same again.
func FuzzParse(f *testing.F) {
	for _, o := range []grid.Object{grid.DefaultCQueue("a"), grid.DefaultPE("a"), grid.DefaultSchedConf(),
		grid.DefaultRQS("a"),
		grid.DefaultConf(), grid.DefaultCentries()[0], &grid.ShareTree{Nodes: []grid.ShareNode{{Name: "Root"}}}} {
		f.Add(uint8(o.Kind()), conf.Format(o))
	}
	f.Add(uint8(grid.KindHGroup), "group_name @x\nhostlist a,\\\n \\\n b \\")
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		spec := grid.SpecOf(grid.Kind(kind))
		if spec == nil {
			return
		}
		o := spec.New()
		if conf.Parse(text, o) != nil {
			return
		}
		again := spec.New()
		if err := conf.Parse(conf.Style{SingleLine: true}.Format(o), again); err != nil {
			t.Fatalf("%v\n%s", err, conf.Format(o))
		}
		if a, b := conf.EditText(o), conf.EditText(again); a != b {
			t.Fatalf("printed\n%s\nthen\n%s", a, b)
		}
	})
}

// The parameters of algorithms stand after those of the scheduler, each
// after what it means.
func TestSections(t *testing.T) {
	c := grid.Default(grid.KindSchedConf, "").(*grid.SchedConf)
	c.Sections = []grid.Section{
		{Algorithm: "fbsng", Params: []grid.Param{
			{Name: "min_period_s", Text: "5", Help: "seconds between two runs"},
			{Name: "queue", Text: "high QPmin=5", Help: "one line a queue"}, {Name: "queue", Text: "low QPmin=0"}}},
		{Algorithm: "scoot", Params: []grid.Param{{Name: "rebalance_threshold", Text: "0"}}}}
	text := conf.Format(c)
	want := `# seconds between two runs
fbsng.min_period_s                5
# one line a queue
fbsng.queue                       high QPmin=5
fbsng.queue                       low QPmin=0
scoot.rebalance_threshold         0
`
	if !strings.HasSuffix(text, "\n"+want) {
		t.Errorf("told as\n%s", text)
	}
	var got grid.SchedConf
	if err := conf.Parse(text, &got); err != nil {
		t.Fatal(err)
	}
	for i := range c.Sections {
		for k := range c.Sections[i].Params {
			c.Sections[i].Params[k].Help = ""
		}
	}
	if d := cmp.Diff(c.Sections, got.Sections); d != "" {
		t.Error(d)
	}
}

// qconf -aattr, -mattr, -dattr, -rattr of sched_conf reach the parameters of
// algorithms, and the rows of their tables.
func TestChangeSections(t *testing.T) {
	begin := &grid.SchedConf{Sections: []grid.Section{{Algorithm: "fbsng", Params: []grid.Param{
		{Name: "min_period_s", Text: "5"}, {Name: "queue", Text: "high QPmin=5", Table: true},
		{Name: "queue", Text: "low QPmin=0", Table: true}}}}}
	for _, c := range []struct {
		op          conf.ListOp
		attr, value string
		want        string
	}{
		{conf.Modify, "fbsng.min_period_s", "2", "min_period_s 2|queue high QPmin=5|queue low QPmin=0"},
		{conf.Modify, "fbsng.queue", "low QPmin=1", "min_period_s 5|queue high QPmin=5|queue low QPmin=1"},
		{conf.Add, "fbsng.queue", "mid QPmin=3", "min_period_s 5|queue high QPmin=5|queue low QPmin=0|queue mid QPmin=3"},
		{conf.Remove, "fbsng.queue", "high", "min_period_s 5|queue low QPmin=0"},
		{conf.Remove, "fbsng.queue", "nosuch", ""},
		{conf.Remove, "fbsng.min_period_s", "5", ""},
		{conf.Replace, "fbsng.queue", "only", "min_period_s 5|queue only"},
		{conf.Modify, "fbsng.held", "x", "min_period_s 5|queue high QPmin=5|queue low QPmin=0|held x"},
	} {
		o, _, err := conf.Change(begin, c.op, c.attr, "", c.value)
		if (err != nil) != (c.want == "") {
			t.Errorf("%s %q: %v", c.attr, c.value, err)
		}
		if err != nil {
			continue
		}
		var got []string
		for _, p := range o.(*grid.SchedConf).Section("fbsng") {
			got = append(got, p.Name+" "+p.Text)
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%s %q: %s, want %s", c.attr, c.value, s, c.want)
		}
	}
}

// TestEveryConfiguredKindHasDefault finds a kind with attributes and qconf
// switches for which qconf could offer no object.
func TestEveryConfiguredKindHasDefault(t *testing.T) {
	for _, s := range grid.Kinds {
		if s.Configured() && s.Default == nil && len(conf.Attributes(s.Kind)) > 0 {
			t.Errorf("%s has attributes but no default object", s.Name)
		}
	}
}
