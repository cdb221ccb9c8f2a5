package qconf_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/kballard/go-shellquote"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/opt/opttest"
	"github.com/quill-grid/quill/tools/ge/qconf"
)

// cell stands for qmaster: it keeps objects and answers as root@master is
// answered, without checking anything but versions.
type cell struct {
	opttest.FakeClient
	stale int // how many changes find that another client was faster
}

func newCell() *cell {
	c := &cell{}
	c.Objects = opttest.SmallCell()
	global := &grid.Conf{
		Host: "global", Entries: grid.Values{{Name: "mailer", Text: "/bin/mail"}, {Name: "max_unheard", Text: "00:05:00"}}}
	c.Objects = append(c.Objects, global, &grid.Manager{Name: "root"}, &grid.AdminHost{Name: "master"},
		grid.Default(grid.KindSchedConf, ""), grid.DefaultUserset("arusers"))
	c.Answer = c.decide
	return c
}

func (c *cell) find(o grid.Kind, key grid.Key) int {
	return slices.IndexFunc(c.Objects, func(x grid.Object) bool { return x.Kind() == o && x.Key() == key })
}

func (c *cell) decide(body gdi.Body) (r gdi.Reply) {
	log := func(verb, where string, did gdi.Did, o grid.Object) {
		text := fmt.Sprintf("root@master %s %q %s %s list", verb, o.Key(), where, grid.SpecOf(o.Kind()).Noun)
		r.Answers = append(r.Answers, gdi.Done(text).On(gdi.Subject{Kind: o.Kind(), Name: o.Key().Name, Did: did}))
	}
	deny := func(s gdi.Status, format string, k grid.Kind, key grid.Key) {
		text := fmt.Sprintf(format, grid.SpecOf(k).Noun, key)
		r.Answers = append(r.Answers, gdi.Deny(s, text).On(gdi.Subject{Kind: k, Name: key.Name}))
	}
	switch b := body.(type) {
	case *gdi.Change:
		before := slices.Clone(c.Objects)
		for _, part := range []gdi.Body{&b.Delete, &gdi.Add{Objects: b.Add}, &gdi.Modify{Objects: b.Modify}} {
			r.Answers = append(r.Answers, c.decide(part).Answers...)
		}
		if !r.OK() {
			c.Objects = before
			r.Answers = slices.DeleteFunc(r.Answers, func(a gdi.Answer) bool { return a.Status == gdi.StatusOK })
		}
	case *gdi.Add:
		for _, o := range b.Objects {
			if c.find(o.Kind(), o.Key()) >= 0 {
				deny(gdi.StatusExists, "%s %q already exists", o.Kind(), o.Key())
				continue
			}
			grid.SetVersion(o, 1)
			c.Objects = append(c.Objects, o)
			log("added", "to", gdi.DidAdd, o)
		}
	case *gdi.Modify:
		for _, o := range b.Objects {
			n := c.find(o.Kind(), o.Key())
			switch {
			case n < 0:
				deny(gdi.StatusUnknown, "%s %q does not exist", o.Kind(), o.Key())
			case c.stale > 0 || grid.Version(o) != 0 && grid.Version(o) != grid.Version(c.Objects[n]):
				c.stale--
				deny(gdi.StatusStale, "denied: %s %q was changed by another request meanwhile", o.Kind(), o.Key())
			default:
				grid.SetVersion(o, grid.Version(c.Objects[n])+1)
				c.Objects[n] = o
				log("modified", "in", gdi.DidModify, o)
			}
		}
	case *gdi.Delete:
		for _, key := range b.Keys {
			n := c.find(b.Kind, key)
			if n < 0 {
				deny(gdi.StatusUnknown, "denied: %s %q does not exist", b.Kind, key)
				continue
			}
			log("removed", "from", gdi.DidDelete, c.Objects[n])
			c.Objects = slices.Delete(c.Objects, n, n+1)
		}
	case *gdi.Trigger:
		switch b.Action {
		case "show-scheduler":
			r.Answers = append(r.Answers, gdi.Done("master"))
			return r
		case "show-event-clients":
			r.Clients = []gdi.EventClient{{ID: 1, Name: "scheduler", Host: "master"}}
		}
		r.Answers = append(r.Answers, gdi.Done(b.Verb()+strings.TrimPrefix(fmt.Sprintf("%+v", b), "&")))
	default:
		r.Answers = append(r.Answers, gdi.Done(body.Verb()+strings.TrimPrefix(fmt.Sprintf("%+v", body), "&")))
	}
	return r
}

// edited is the name of an editor's file, which differs from run to run.
var edited = regexp.MustCompile(`[^ "]*/qconf-\d+`)

// TestTranscripts runs qconf line by line on a cell of its own per file. The
// command `file NAME` writes a file, `editor` says what $EDITOR does.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		c, dir, vars := newCell(), t.TempDir(), map[string]string{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "file":
				if err := os.WriteFile(filepath.Join(dir, d.CmdArgs[0].Key), []byte(d.Input+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				return ""
			case "set":
				vars[d.CmdArgs[0].Key] = d.Input
				return ""
			case "stale":
				d.ScanArgs(t, "n", &c.stale)
				return ""
			case "qconf":
				var out strings.Builder
				for line := range strings.Lines(d.Input) {
					words, err := shellquote.Split(line)
					if err != nil {
						t.Fatal(err)
					}
					env, printed := opttest.ClientEnv(c)
					env.Dir, env.Getenv = dir, func(name string) string { return vars[name] }
					out.WriteString(printed(qconf.Run(env, words[1:])))
				}
				return edited.ReplaceAllString(out.String(), "FILE")
			}
			t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
			return ""
		})
	})
}

// TestJSONOfAll checks that the transcript of -fmt json has every switch that shows something.
func TestJSONOfAll(t *testing.T) {
	env, printed := opttest.ClientEnv(newCell())
	help := printed(qconf.Run(env, []string{"-help"}))
	transcript, err := os.ReadFile("testdata/json.txt")
	if err != nil {
		t.Fatal(err)
	}
	switches := regexp.MustCompile(`(?m)^   \[(-r?s[a-z_]+)`).FindAllStringSubmatch(help, -1)
	if len(switches) < 30 {
		t.Fatalf("%d switches found", len(switches))
	}
	for _, s := range switches {
		if !strings.Contains(string(transcript), "qconf -fmt json "+s[1]) {
			t.Errorf("testdata/json.txt lacks %s", s[1])
		}
	}
}
