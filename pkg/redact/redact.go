package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/pattern"
)

// Redactor replaces names. First everything is noted, then everything is
// redacted: a name that was not noted is a secret.
type Redactor struct {
	key    []byte
	people map[string]string // users, unix groups, projects: their tokens
	jobs   map[string]string
	tokens map[string]string // of secrets
	ready  bool
}

// New is a Redactor with a key of random bytes, which must stay secret.
func New(key []byte) *Redactor {
	return &Redactor{key: key, people: map[string]string{}, jobs: map[string]string{}, tokens: map[string]string{}}
}

// Note stores the names in a list, for their replacements.
func (r *Redactor) Note(l events.List) { r.walk(reflect.ValueOf(&l), secret) }

// NoteRecord stores the names in a recorded order list.
func (r *Redactor) NoteRecord(o orders.Record) { r.walk(reflect.ValueOf(&o), secret) }

// settle gives the tokens, in the order of the names.
func (r *Redactor) settle() {
	if r.ready {
		return
	}
	r.ready = true
	number(r.people, "u")
	number(r.jobs, "j")
}

func number(names map[string]string, letter string) {
	width := len(fmt.Sprint(len(names)))
	for i, name := range slices.Sorted(maps.Keys(names)) {
		names[name] = fmt.Sprintf("%s%0*d", letter, max(width, 4), i+1)
	}
}

// List is l with other names; l is not changed.
func (r *Redactor) List(l events.List) events.List {
	r.settle()
	out := r.redacted(reflect.ValueOf(l), secret).Interface().(events.List)
	for i, e := range out.Events {
		if e.Object != nil {
			out.Events[i].Key = e.Object.Key()
		} else {
			out.Events[i].Key = r.keyOf(e.Kind, e.Key)
		}
	}
	return out
}

// Record is o with other names; o is not changed.
func (r *Redactor) Record(o orders.Record) orders.Record {
	r.settle()
	return r.redacted(reflect.ValueOf(o), secret).Interface().(orders.Record)
}

// joined has the kinds whose key joins the names of several fields.
var joined = map[grid.Kind]rule{grid.KindBooking: both, grid.KindReceipt: receipt, grid.KindAlgorithmState: text}

// keyRules has for each kind what becomes of the name in its key: what becomes of the first string of its objects,
// except for those in joined.
var keyRules = func() (rules [grid.KindsEnd]rule) {
	for _, s := range grid.Kinds {
		t := reflect.TypeOf(s.New()).Elem()
		for i := range t.NumField() {
			if t.Field(i).Type.Kind() == reflect.String {
				rules[s.Kind] = ruleOf(t, i, secret)
				break
			}
		}
		if how, ok := joined[s.Kind]; ok {
			rules[s.Kind] = how
		}
	}
	return rules
}()

func (r *Redactor) keyOf(k grid.Kind, key grid.Key) grid.Key {
	if key.Name != "" && k < grid.KindsEnd {
		key.Name = r.token(keyRules[k], key.Name)
	}
	return key
}

// walk notes the names in v; how is the rule of the field that v is in.
func (r *Redactor) walk(v reflect.Value, how rule) {
	switch v.Kind() {
	case reflect.String:
		r.noteName(how, v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			r.walk(v.Elem(), how)
		}
	case reflect.Slice, reflect.Array:
		if how == keep || v.Type().Elem().Kind() <= reflect.Complex128 {
			return
		}
		for i := range v.Len() {
			r.walk(v.Index(i), how)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			r.walk(v.Field(i), ruleIn(v, i, how))
		}
	}
}

// ruleIn is ruleOf for a field of v: the value of a request for a container is a path of the user's own.
func ruleIn(v reflect.Value, i int, outer rule) rule {
	if v.Type() == requestType && v.Type().Field(i).Name == "Value" &&
		v.Interface().(grid.Request).Name == grid.ContainerRequest {
		return image
	}
	return ruleOf(v.Type(), i, outer)
}

var requestType = reflect.TypeFor[grid.Request]()

func (r *Redactor) noteName(how rule, s string) {
	switch how {
	case who:
		if s = strings.TrimPrefix(s, "@"); !fixed[s] {
			r.people[s] = ""
		}
	case at:
		if user, _, ok := strings.Cut(s, "@"); ok {
			r.noteName(who, user)
		}
	case job:
		if !fixed[s] {
			r.jobs[s] = ""
		}
	}
}

// redacted is v with other names; what stays the same is shared.
func (r *Redactor) redacted(v reflect.Value, how rule) reflect.Value {
	if how == keep {
		return v
	}
	switch v.Kind() {
	case reflect.String:
		out := reflect.New(v.Type()).Elem()
		out.SetString(r.token(how, v.String()))
		return out
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		if v.Kind() == reflect.Interface {
			out.Set(r.redacted(v.Elem(), how))
			return out
		}
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(r.redacted(v.Elem(), how))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if how != secret || v.Len() == 0 {
				return v
			}
			return reflect.ValueOf([]byte(r.token(secret, string(v.Bytes())))).Convert(v.Type())
		}
		if v.Type().Elem().Kind() <= reflect.Complex128 {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(r.redacted(v.Index(i), how))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if out.Field(i).CanSet() {
				out.Field(i).Set(r.redacted(v.Field(i), ruleIn(v, i, how)))
			}
		}
		return out
	}
	return v
}

// token is what stands for s.
func (r *Redactor) token(how rule, s string) string {
	if fixed[s] {
		return s
	}
	switch how {
	case who:
		if group, ok := strings.CutPrefix(s, "@"); ok {
			return "@" + r.token(who, group)
		}
		return r.known(r.people, s)
	case job:
		return r.known(r.jobs, s)
	case at:
		if user, host, ok := strings.Cut(s, "@"); ok {
			return r.token(who, user) + "@" + host
		}
		return r.words(s)
	case both:
		user, project, _ := strings.Cut(s, "/")
		return r.token(who, user) + "/" + r.token(who, project)
	case receipt:
		user, request, _ := strings.Cut(s, ":")
		return grid.ReceiptKey(r.token(who, user), request).Name
	case refs:
		if strings.Trim(s, "0123456789.-:") == "" {
			return s
		}
		return r.known(r.jobs, s)
	case quota:
		return r.quotaRule(s)
	case text:
		return r.text(s)
	case config:
		return r.words(address.ReplaceAllStringFunc(s, r.secret))
	case secret:
		return r.secret(s)
	case image:
		return r.secret(s) + extension.FindString(s)
	}
	return s
}

// container is a request for a container within a text, such as the category of a job.
var container = regexp.MustCompile(`\b` + grid.ContainerRequest + `=([^\s,]+)`)

// text replaces words, and images as Requests have them.
func (r *Redactor) text(s string) string {
	at := container.FindStringSubmatchIndex(s)
	if at == nil {
		return r.words(s)
	}
	return r.words(s[:at[2]]) + r.token(image, s[at[2]:at[3]]) + r.text(s[at[3]:])
}

// extension is how a path of a file ends: .sif.
var extension = regexp.MustCompile(`\.[a-z]{1,4}$`)

func (r *Redactor) known(names map[string]string, s string) string {
	if token := names[s]; token != "" {
		return token
	}
	return r.secret(s)
}

func (r *Redactor) secret(s string) string {
	if token, ok := r.tokens[s]; ok {
		return token
	}
	mac := hmac.New(sha256.New, r.key)
	mac.Write([]byte(s))
	token := fmt.Sprintf("x%x", mac.Sum(nil)[:5])
	if s[0] == '/' {
		token = "/" + token
	}
	r.tokens[s] = token
	return token
}

// word is what may be a name, a path or an address within a text.
var word = regexp.MustCompile(`/[^\s"',;:)]+|[\w.+-]+@[\w-]+(\.[\w-]+)+|[\w.-]*\w`)

// address is a mail address.
var address = regexp.MustCompile(`[\w.+-]+@[\w-]+(\.[\w-]+)*`)

// words replaces the words of a text that are users, projects, paths or addresses.
func (r *Redactor) words(s string) string {
	where := word.FindAllStringIndex(s, -1)
	var out strings.Builder
	end := 0
	for _, w := range where {
		name := s[w[0]:w[1]]
		token := name
		switch {
		case r.people[name] != "":
			token = r.people[name]
		case name[0] == '/' && w[0] > 0 && isName(s[w[0]-1]): // slashes between names: alice/genome//
			parts := strings.Split(name, "/")
			for i, p := range parts {
				if known := r.people[p]; known != "" {
					parts[i] = known
				}
			}
			token = strings.Join(parts, "/")
		case strings.Trim(name, "/") == "":
		case name[0] == '/':
			token = r.secret(name)
		case strings.Contains(name, "@"):
			local, host, _ := strings.Cut(name, "@")
			if r.people[local] != "" {
				token = r.people[local] + "@" + host
			}
		}
		out.WriteString(s[end:w[0]])
		out.WriteString(token)
		end = w[1]
	}
	out.WriteString(s[end:])
	return out.String()
}

func isName(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' ||
		c == '.' || c == '@'
}

// quotaRule replaces the users and projects in the filters of a rule.
func (r *Redactor) quotaRule(s string) string {
	rule, err := grid.ParseQuotaRule(s)
	if err != nil {
		return r.words(s)
	}
	for _, f := range []int{grid.QuotaUsers, grid.QuotaProjects} {
		var list grid.Names
		for _, n := range rule.Filters[f].List {
			name, not := strings.CutPrefix(n, "!")
			if name[0] == '@' { // a userset
				list = append(list, n)
				continue
			}
			for _, token := range r.all(name) {
				if not {
					token = "!" + token
				}
				list = append(list, token)
			}
		}
		rule.Filters[f].List = list
	}
	return rule.String()
}

// all are the tokens of the users and projects that a pattern matches; one that
// belongs to no user if it matches none.
func (r *Redactor) all(wanted string) (tokens []string) {
	if fixed[wanted] || !strings.ContainsAny(wanted, "*?[") {
		return []string{r.token(who, wanted)}
	}
	for name, token := range r.people {
		if pattern.Match(wanted, name) {
			tokens = append(tokens, token)
		}
	}
	if len(tokens) == 0 {
		return []string{r.secret(wanted)}
	}
	slices.Sort(tokens)
	return tokens
}
