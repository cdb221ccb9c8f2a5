package redact

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/reason"
)

// everything is an example of each type that a log holds.
func everything() (all []any) {
	for _, s := range grid.Kinds {
		all = append(all, s.New())
	}
	for t := range orders.Type(255) {
		if o := orders.New(t); o != nil {
			all = append(all, o)
		}
	}
	return append(all, &events.List{}, &orders.Record{})
}

// TestEveryField: each text that a log holds has a decision on who may read it, in a word that is known, and names in
// any field can be replaced. A new field without a tag fails here.
func TestEveryField(t *testing.T) {
	for _, x := range everything() {
		for _, problem := range undecided(reflect.TypeOf(x), fmt.Sprintf("%T", x), false, map[string]bool{}) {
			t.Error(problem)
		}
	}
	type planted struct {
		Text   string
		Secret []byte
		Inside struct{ Names grid.Names }
		Known  string `see:"keep"`
		Other  string `see:"everybody"`
		List   []struct{ Text string }
		Pairs  map[string]string `see:"keep"`
	}
	if got := undecided(reflect.TypeFor[planted](), "planted", false, map[string]bool{}); len(got) != 6 {
		t.Errorf("of the planted fields are found %q", got)
	}
}

// undecided returns the texts in a type of which no field says who may read them; decided: one that it is in does.
func undecided(r reflect.Type, where string, decided bool, seen map[string]bool) (out []string) {
	if key := fmt.Sprint(r, where, decided); seen[key] {
		return nil
	} else {
		seen[key] = true
	}
	switch r.Kind() {
	case reflect.String:
		if !decided {
			out = append(out, where+": no tag says who may read it, see grid.SeeTag")
		}
	case reflect.Array:
		if r.Elem().Kind() > reflect.Complex128 {
			out = append(out, where+" is an array: it is not looked into")
		}
	case reflect.Map:
		out = append(out, where+" is a map: it is not looked into")
	case reflect.Pointer:
		out = undecided(r.Elem(), where, decided, seen)
	case reflect.Slice:
		if r.Elem().Kind() == reflect.Uint8 {
			return undecided(reflect.TypeFor[string](), where, decided, seen)
		}
		out = undecided(r.Elem(), where, decided, seen)
	case reflect.Struct:
		for i := range r.NumField() {
			name := r.Name() + "." + r.Field(i).Name
			if strings.HasSuffix(r.Name(), "]") { // a value with exceptions follows its field
				name = where
			}
			word, tagged := r.Field(i).Tag.Lookup(grid.SeeTag)
			if _, known := rules[word]; tagged && !known {
				out = append(out, name+": nobody knows the word "+word)
			}
			out = append(out, undecided(r.Field(i).Type, name, decided || tagged, seen)...)
		}
	}
	return out
}

// fill puts names of its own into every string of v and returns those that must
// not be seen in what is redacted.
func fill(v reflect.Value, how rule, n *int) (hidden []string) {
	switch v.Kind() {
	case reflect.String:
		*n++
		s := fmt.Sprintf("name%dq", *n)
		switch how {
		case keep:
		case at:
			hidden = append(hidden, s)
			s += "@host"
		case quota:
			hidden = append(hidden, s)
			s = "users {" + s + "} to slots=1"
		case text, config:
			s = "/secret/" + s
			hidden = append(hidden, s)
			s = "it cannot read " + s + "."
		default:
			hidden = append(hidden, s)
		}
		v.SetString(s)
	case reflect.Pointer:
		if v.Type().Elem().Kind() == reflect.Struct {
			v.Set(reflect.New(v.Type().Elem()))
			return fill(v.Elem(), how, n)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			*n++
			v.SetBytes(fmt.Appendf(nil, "name%dq", *n))
			return []string{string(v.Bytes())}
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			hidden = append(hidden, fill(v.Index(i), how, n)...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				hidden = append(hidden, fill(v.Field(i), ruleOf(v.Type(), i, how), n)...)
			}
		}
	}
	return hidden
}

// TestNothingShows: of an object of each kind, wholly filled, nothing that is
// anybody's business is left, the key still is the object's, and the same object
// becomes the same twice.
func TestNothingShows(t *testing.T) {
	n := 0
	for _, s := range grid.Kinds {
		o := s.New()
		hidden := fill(reflect.ValueOf(o).Elem(), secret, &n)
		l := events.List{Seq: 1, Cause: events.Cause{Who: "alice@h1"},
			Events: []events.Event{events.Add(o), events.Del(o.Kind(), o.Key())}}
		r := New([]byte("key"))
		r.Note(l)
		got := r.List(l)
		for _, h := range append(hidden, "alice") {
			if text := collectText(got); strings.Contains(text, h) {
				t.Errorf("%s: %s shows: %s", s.Name, h, text)
			}
		}
		if add, del := got.Events[0], got.Events[1]; add.Key != add.Object.Key() || del.Key != add.Key {
			t.Errorf("%s: keys are %s and %s, the object's is %s", s.Name, add.Key, del.Key, add.Object.Key())
		}
		if !reflect.DeepEqual(got, r.List(l)) {
			t.Errorf("%s: not the same twice", s.Name)
		}
	}
}

// TestPatterns: a quota rule over patterns holds for the same users as before, and
// for no others.
func TestPatterns(t *testing.T) {
	users := []string{"ada", "al", "amy", "bob", "u0001", "zed"}
	for rule, want := range map[string]string{
		"users * to slots=1":          "users * to slots=1",
		"users {*} to slots=1":        "users {*} to slots=1",
		"users a* to slots=1":         "users u0001,u0002,u0003 to slots=1",
		"users {a?,b*} to slots=1":    "users {u0002,u0004} to slots=1",
		"users !a*,!zed to slots=1":   "users !u0001,!u0002,!u0003,!u0006 to slots=1",
		"users *,![az]* to slots=1":   "users *,!u0001,!u0002,!u0003,!u0006 to slots=1",
		"users u* to slots=1":         "users u0005 to slots=1",
		"users @staff,b* to slots=1":  "users @staff,u0004 to slots=1",
		"projects {a*} to slots=$n*2": "projects {u0001,u0002,u0003} to slots=$n*2",
	} {
		r := New([]byte("key"))
		l := events.List{Seq: 1,
			Events: []events.Event{events.Add(&grid.RQS{Name: "limits", Limits: grid.Names{rule, "users q*,!x* to slots=1"}})}}
		for _, u := range users {
			l.Events = append(l.Events, events.Add(&grid.User{Name: u}))
		}
		r.Note(l)
		limits := r.List(l).Events[0].Object.(*grid.RQS).Limits
		if limits[0] != want {
			t.Errorf("%s: %s, want %s", rule, limits[0], want)
		}
		none, err := grid.ParseQuotaRule(limits[1])
		if err != nil || len(none.Filters[grid.QuotaUsers].List) != 2 || strings.Contains(limits[1], "*") ||
			!strings.HasPrefix(limits[1], "users x") {
			t.Errorf("a pattern that matches nobody: %s (%v)", limits[1], err)
		}
	}
}

func collectText(v any) string {
	var b bytes.Buffer
	var walk func(reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			b.WriteString(v.String() + " ")
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			if v.Type().Elem().Kind() == reflect.Uint8 {
				b.Write(v.Bytes())
				return
			}
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		}
	}
	walk(reflect.ValueOf(v))
	return b.String()
}

// TestContainer: the image of a container is a path of its user, wherever the request is. Its extension stays: hosts
// offer starters by it.
func TestContainer(t *testing.T) {
	requests := func() grid.Requests {
		return grid.Requests{{Name: "container", Value: "/home/alice/x.sif"}, {Name: "arch", Value: "lx-amd64"}}
	}
	l := events.List{Seq: 1, Events: []events.Event{
		events.Add(&grid.Job{ID: 1, Owner: "alice", JobRequest: &grid.JobRequest{Hard: requests()}}),
		events.Add(&grid.Job{ID: 2, Owner: "alice",
			JobRequest: &grid.JobRequest{Hard: grid.Requests{{Name: "container", Value: "docker.io/alice/x:12"}}}}),
		events.Add(&grid.JobScheddInfo{Category: "-l arch=x,container=/home/alice/merger.sif -pe smp 2"}),
	}}
	r := New([]byte("key"))
	r.Note(l)
	got := r.List(l)
	if category := got.Events[2].Object.(*grid.JobScheddInfo).Category; !regexp.MustCompile(
		`^-l arch=x,container=/?x\w+\.sif -pe smp 2$`).MatchString(category) {
		t.Errorf("category: %s", category)
	}
	if text := collectText(got); strings.Contains(text, "alice") || strings.Contains(text, "merger") {
		t.Errorf("shows: %s", text)
	}
	hard := got.Events[0].Object.(*grid.Job).Hard
	if image := hard[0].Value; !strings.HasPrefix(image, "/x") || !strings.HasSuffix(image, ".sif") ||
		hard[1].Value != "lx-amd64" {
		t.Errorf("requests: %v", hard)
	}
	if other := got.Events[1].Object.(*grid.Job).Hard[0].Value; !strings.HasPrefix(other, "x") ||
		strings.ContainsAny(other, "/.:") {
		t.Errorf("image of a registry: %s", other)
	}
	if was := l.Events[0].Object.(*grid.Job).Hard[0].Value; was != "/home/alice/x.sif" {
		t.Errorf("the original has %s", was)
	}
}

// TestTokens: consistent everywhere, in the order of the names, and with
// another key others.
func TestTokens(t *testing.T) {
	job := func(owner, name string) *grid.Job {
		return &grid.Job{ID: 1, Owner: owner, Name: name,
			JobRequest: &grid.JobRequest{PredecessorReq: grid.Names{name, "17"}},
			Spec:       &grid.JobSpec{Cwd: "/home/" + owner, Env: grid.Values{{Name: "TOKEN", Text: "hunter2"}}}}
	}
	l := events.List{Seq: 1, Cause: events.Cause{Who: "bob@h1", What: "qsub"}, Events: []events.Event{
		events.Add(job("zed", "align")), events.Add(job("amy", "index")),
		events.Add(&grid.Project{Name: "genome"}),
		events.Add(&grid.Booking{User: "amy", Project: "genome"}),
		events.Add(&grid.RQS{Name: "limits", Limits: grid.Names{"users {amy,!bob,@staff} projects genome hosts h1 to slots=5",
			"users * to slots=10"}}),
		events.Add(
			&grid.JobScheddInfo{Category: "-U staff",
				Reasons: []reason.Reason{{Code: reason.AlgorithmWait, Offer: `user "zed" is not in "/etc/passwd" of all.q@h1`}}}),
		events.Del(grid.KindUser, grid.Key{Name: "amy"}),
		events.Add(&grid.Conf{Host: "global", Entries: grid.Values{{Name: "administrator_mail", Text: "ops@site.example"},
			{Name: "mailer", Text: "/usr/bin/mail"}}}),
	}}
	r := New([]byte("one"))
	r.Note(l)
	got := r.List(l)
	j := func(i int) *grid.Job { return got.Events[i].Object.(*grid.Job) }
	amy, bob, genome, zed := "u0001", "u0002", "u0003", "u0004"
	if j(0).Owner != zed || j(1).Owner != amy || got.Cause.Who != bob+"@h1" {
		t.Errorf("owners %s and %s, asked by %s", j(0).Owner, j(1).Owner, got.Cause)
	}
	if want := (grid.Names{"j0001", "17"}); j(0).Name != "j0001" || !reflect.DeepEqual(j(0).PredecessorReq, want) {
		t.Errorf("job %s waits for %s", j(0).Name, j(0).PredecessorReq)
	}
	if got.Events[3].Key != grid.BookingKey(amy, genome) || got.Events[6].Key.Name != amy {
		t.Errorf("keys are %v and %v", got.Events[3].Key, got.Events[6].Key)
	}
	limits := got.Events[4].Object.(*grid.RQS).Limits
	if limits[0] != "users {"+amy+",!"+bob+",@staff} projects "+genome+" hosts h1 to slots=5" ||
		limits[1] != "users * to slots=10" {
		t.Errorf("quotas: %q", limits)
	}
	message := got.Events[5].Object.(*grid.JobScheddInfo).Reasons[0].String()
	if got, want := r.words(`exceeds limit "amy////" in rule "most/1"`),
		`exceeds limit "u0001////" in rule "most/1"`; got != want {
		t.Errorf("message: %s", got)
	}
	if !strings.HasPrefix(message, `user "`+zed+`" is not in "/x`) || !strings.HasSuffix(message, ` of all.q@h1`) {
		t.Errorf("message: %s", message)
	}
	for _, e := range got.Events[7].Object.(*grid.Conf).Entries {
		if strings.Contains(e.Text, "ops") || strings.Contains(e.Text, "mail") {
			t.Errorf("configuration shows %s", e.Text)
		}
	}
	other := New([]byte("two"))
	other.Note(l)
	if other.List(l).Events[0].Object.(*grid.Job).Spec.Cwd == j(0).Spec.Cwd {
		t.Error("another key gives the same token")
	}
	if l.Events[0].Object.(*grid.Job).Owner != "zed" {
		t.Error("the list itself was changed")
	}
}
