package attacker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// operation is a route of quill web as its description has it.
type operation struct {
	method, path string
	parameters   []parameter
	members      []member // of the body
}

func (o operation) name() string { return o.method + " " + o.path }

type parameter struct {
	Name, In string
	Required bool
}

// member is a member of a body.
type member struct {
	name     string
	list     bool
	text     bool
	required bool
}

// description is what is read of OpenAPI.
type description struct {
	Paths map[string]map[string]struct {
		Parameters  []parameter
		RequestBody struct {
			Content map[string]struct{ Schema schema }
		}
	}
	Components struct{ Schemas map[string]schema }
}

type schema struct {
	Ref        string `json:"$ref"`
	Type       any
	Required   []string
	Properties map[string]schema
}

// operations reads the routes of the server, with the pages of the console, which are no part of its description.
func (f *Field) operations(ctx context.Context, session *visit) (all []operation, err error) {
	_, text, err := f.get(ctx, "GET", "/v1/openapi.json", "", nil, nil)
	if err != nil {
		return nil, err
	}
	var d description
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("description of the routes: %w", err)
	}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			one := d.Paths[path][method]
			o := operation{method: strings.ToUpper(method), path: path, parameters: one.Parameters}
			for _, c := range one.RequestBody.Content {
				o.members = d.members(c.Schema)
				break
			}
			all = append(all, o)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/login", "/login/{secret}"} {
		all = append(all, operation{method: "GET", path: path, parameters: []parameter{{Name: "secret", In: "path"}}})
	}
	for _, path := range session.pages {
		all = append(all, operation{method: "GET", path: path, parameters: []parameter{{Name: "q", In: "query"}}})
	}
	return slices.DeleteFunc(all, func(o operation) bool { return !f.selected(o.name()) }), nil
}

func (d *description) members(s schema) (all []member) {
	if s.Ref != "" {
		s = d.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		of := fmt.Sprint(s.Properties[name].Type)
		all = append(
			all, member{name: name, list: of == "array", text: of == "string", required: slices.Contains(s.Required, name)})
	}
	return all
}

// client connects to quill web at its address.
func (f *Field) client() *http.Client {
	dialer := net.Dialer{Timeout: rawWait}
	return &http.Client{
		Timeout: CommandMax, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 64, DisableCompression: true},
	}
}

// get sends a request to quill web and returns the first megabyte of the answer.
func (f *Field) get(
	ctx context.Context, method, path, token string, header map[string]string, body []byte,
) (status int, text []byte, err error) {
	if f.web == nil {
		f.web = f.client()
	}
	r, err := http.NewRequestWithContext(ctx, method, f.Web+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	answer, err := f.web.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	f.search("answer at "+strings.SplitN(path, "?", 2)[0], text)
	return answer.StatusCode, text, err
}

// visit is a session of the console.
type visit struct {
	cookie string
	pages  []string
}

var hrefs = regexp.MustCompile(`href="(/[a-z-]*)["?]`)

// open begins a session of the console as the attacker.
func (f *Field) open(ctx context.Context) (*visit, error) {
	status, text, err := f.get(ctx, "POST", "/v1/session", f.Token, nil, []byte("{}"))
	if err == nil && status != http.StatusCreated {
		err = fmt.Errorf("no session: %d %s", status, text)
	}
	if f.count(err); err != nil {
		return nil, err
	}
	var made struct{ Link string }
	if err := json.Unmarshal(text, &made); err != nil {
		return nil, err
	}
	answer, err := f.client().Get(made.Link)
	if err != nil {
		return nil, err
	}
	answer.Body.Close()
	v := &visit{pages: []string{"/"}}
	for _, c := range answer.Cookies() {
		v.cookie = c.Name + "=" + c.Value
	}
	_, page, err := f.get(ctx, "GET", "/", "", map[string]string{"Cookie": v.cookie}, nil)
	for _, m := range hrefs.FindAllSubmatch(page, -1) {
		if at := string(m[1]); !slices.Contains(v.pages, at) && !strings.HasPrefix(at, "/v1") {
			v.pages = append(v.pages, at)
		}
	}
	return v, err
}

// call is a request for an operation. Values are those of parameters and members by name.
type call struct {
	operation
	query, path map[string]string
	header      map[string]string
	body        map[string]any
}

// usual is a request that the server understands.
func (f *Field) usual(o operation, job uint32) *call {
	c := &call{operation: o, query: map[string]string{}, path: map[string]string{}, header: map[string]string{}}
	for _, p := range o.parameters {
		if p.In == "path" {
			c.path[p.Name] = map[string]string{"id": fmt.Sprint(job), "kind": "queues", "name": "all.q", "task": "1",
				"host": f.Hosts[0]}[p.Name]
			if c.path[p.Name] == "" {
				c.path[p.Name] = "x"
			}
		}
	}
	if o.method == "GET" || o.method == "DELETE" && len(o.members) == 0 {
		return c
	}
	c.body = map[string]any{}
	for _, m := range o.members {
		switch {
		case m.name == "options":
			c.body[m.name] = []string{"-h"}
		case m.name == "command":
			c.body[m.name] = []string{"true"}
		case m.required && m.list:
			c.body[m.name] = []string{}
		case m.required && m.text:
			c.body[m.name] = "x"
		}
	}
	return c
}

// send sends the request.
func (c *call) send(ctx context.Context, f *Field, token string) (int, []byte, error) {
	path := c.operation.path
	for name, value := range c.path {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	query := url.Values{}
	for name, value := range c.query {
		query.Set(name, value)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var body []byte
	if c.body != nil {
		body, _ = json.Marshal(c.body)
	}
	status, text, err := f.get(ctx, c.method, path, token, c.header, body)
	if err == nil && status >= 400 {
		f.refused()
	} else {
		f.count(err)
	}
	return status, text, err
}

// set gives one parameter or member a value; "" as list means that it takes none.
func (c *call) set(name, in string, text string, list []string) {
	switch in {
	case "query":
		c.query[name] = text
	case "path":
		c.path[name] = text
	case "header":
		c.header[name] = strings.Map(func(r rune) rune {
			if r < ' ' {
				return ' '
			}
			return r
		}, text)
	case "list":
		c.body[name] = list
	default:
		c.body[name] = text
	}
}

// eachParameter calls attack with each parameter and member of each route.
func (f *Field) eachParameter(
	ctx context.Context, attack func(ctx context.Context, c *call, subject, name, in string),
) error {
	ids, err := f.holdJobs(ctx, 3)
	if err != nil {
		return err
	}
	defer f.deleteJobs(ids)
	session, err := f.open(ctx)
	if err != nil {
		return err
	}
	all, err := f.operations(ctx, session)
	if err != nil {
		return err
	}
	order := f.dice.Perm(len(all))
	var next atomic.Int64
	return Workers(4, func(int) error {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(order) {
				return nil
			}
			o := all[order[i]]
			make := func() *call {
				c := f.usual(o, ids[0])
				if slices.Contains(session.pages, o.path) {
					c.header["Cookie"] = session.cookie
				}
				return c
			}
			attack(ctx, make(), o.name(), "", "")
			for _, p := range o.parameters {
				attack(ctx, make(), o.name()+" "+p.In+"."+p.Name, p.Name, p.In)
			}
			for _, m := range o.members {
				in := "text"
				if m.list {
					in = "list"
				}
				attack(ctx, make(), o.name()+" body."+m.name, m.name, in)
			}
		}
		return nil
	})
}

// bodySize is that of a long body: less than quill web takes for one.
const bodySize = 12 << 20

// bodyConns send such bodies at the same time.
const bodyConns = 60

// routesLong sends long parameters, and long bodies with a token that may only read, with none, and with a wrong one.
func routesLong(ctx context.Context, f *Field) error {
	text := strings.Repeat("x", textMax)
	err := f.eachParameter(ctx, func(ctx context.Context, c *call, subject, name, in string) {
		switch in {
		case "":
			if c.body == nil {
				return
			}
			body := []byte(`{"options":["` + strings.Repeat("x", bodySize) + `"]}`)
			Workers(bodyConns, func(w int) error {
				_, _, err := f.get(ctx, c.method, strings.ReplaceAll(strings.ReplaceAll(c.operation.path, "{", ""), "}", ""),
					[]string{"", f.ReadToken, "wrong"}[w%3], nil, body)
				f.count(err)
				return nil
			})
		case "query", "path", "header":
			c.set(name, in, text[:12<<10], nil)
			c.send(ctx, f, f.Token)
		default:
			c.set(name, in, text, []string{text})
			for range 20 {
				if status, _, err := c.send(ctx, f, f.Token); err != nil || status >= 400 {
					break
				}
			}
		}
		f.cover(subject)
	})
	if err == nil {
		f.deleteAll()
	}
	return err
}

// routesMany sends lists of thousands.
func routesMany(ctx context.Context, f *Field) error {
	return f.eachParameter(ctx, func(ctx context.Context, c *call, subject, name, in string) {
		if name == "" {
			return
		}
		var list []string
		for i := range 10_000 {
			list = append(list, fmt.Sprint("m", i))
		}
		c.set(name, in, strings.Join(list[:2000], ","), list)
		c.send(ctx, f, f.Token)
		f.cover(subject)
	})
}

// routesForeign names what belongs to others.
func routesForeign(ctx context.Context, f *Field) error {
	return f.eachParameter(ctx, func(ctx context.Context, c *call, subject, name, in string) {
		if name == "" {
			return
		}
		for _, text := range []string{fmt.Sprint(f.Jobs[0]), f.Honest, "root", "*", HonestKey(1), f.Closed[0],
			"../../" + f.Closed[0]} {
			for _, token := range []string{f.Token, f.ReadToken, ""} {
				c.set(name, in, text, []string{text})
				c.send(ctx, f, token)
			}
		}
		f.cover(subject)
	})
}

// routesMultiline sends line breaks and control characters.
func routesMultiline(ctx context.Context, f *Field) error {
	return f.eachParameter(ctx, func(ctx context.Context, c *call, subject, name, in string) {
		if name == "" {
			return
		}
		for _, control := range controls {
			text := fmt.Sprintf(control, subject)
			list := []string{"-h", "-N", text}
			if name == "options" {
				list = []string{"-h", "-wd", "/" + text, "-ac", "x=" + text}
			}
			c.set(name, in, text, list)
			c.send(ctx, f, f.Token)
		}
		f.cover(subject)
	})
}

// routesRepeated asks at each route on many connections at the same time.
func routesRepeated(ctx context.Context, f *Field) error {
	return f.eachParameter(ctx, func(ctx context.Context, c *call, subject, name, in string) {
		if name != "" || c.method != "GET" && f.done.Load() > heldMax {
			return
		}
		some, cancel := context.WithTimeout(ctx, floodTime)
		defer cancel()
		Workers(floodConns, func(int) error {
			for some.Err() == nil {
				c.send(some, f, f.Token)
			}
			return nil
		})
		f.cover(subject)
	})
}

// streamConns are so many answers that are not read, of one user.
const streamConns = 300

// routesAbandoned asks at each route for a stream or an answer and reads none of it, and sends half a body.
func routesAbandoned(ctx context.Context, f *Field) error {
	var h held
	defer h.close()
	host := strings.TrimPrefix(f.Web, "http://")
	return f.eachParameter(ctx, func(ctx context.Context, c *call, subject, name, in string) {
		if name != "" {
			return
		}
		credential := "Authorization: Bearer " + f.Token
		if cookie := c.header["Cookie"]; cookie != "" {
			credential = "Cookie: " + cookie
		}
		path := strings.NewReplacer("{", "", "}", "").Replace(c.operation.path)
		for _, p := range c.parameters {
			if p.In == "query" && (p.Name == "at" || p.Name == "from") { // all of the past
				path += "?" + p.Name + "=5"
				break
			}
		}
		head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\nAccept: text/event-stream\r\n", c.method, path,
			host, credential)
		if c.body != nil {
			head += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", bodySize)
		}
		var mine held
		for range streamConns {
			conn, err := net.DialTimeout("tcp", host, rawWait)
			f.count(err)
			if err != nil {
				break
			}
			mine.add(conn)
			conn.SetWriteDeadline(time.Now().Add(time.Second))
			io.WriteString(conn, head+"\r\n")
			if c.body != nil {
				conn.Write(make([]byte, 64<<10))
			}
		}
		f.pause(ctx, 2*time.Second)
		mine.close()
		f.cover(subject)
	})
}
