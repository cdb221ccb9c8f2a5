package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/pkg/submit"
	"github.com/quill-grid/quill/tools/web/entry"
	"github.com/quill-grid/quill/tools/web/problem"
)

// TestTranscripts runs the sessions in testdata, each with a cell of its own of two hosts:
//
//	submit USER   words of qsub, a job a line, as USER
//	run           a scheduling run, 15 seconds later
//	end JOB...    the started tasks of jobs end, 10 seconds later; exit=STATUS
//	propose USER  a program of USER proposes to delete the jobs 1,2, or to submit the script
//	runs JOB      the host of its first task reports that it runs
//	writes PATH   the output files of all jobs are this one; with then= it has another text after the first reading, and the job last=JOB ends after the second
//	forget        the server has seen no list so far: what is older is in the log only
//	GET PATH      and other methods, as=USER: what is sent and what comes back; the body is the input, header=NAME:VALUE
//	link USER     POST /v1/session as USER, revoke: with a token that is made for it
//	open          GET of the link that was made last
//	PATH browser  what the browser sends that has opened a link: its cookie, and with csrf its header
//	see PATH      the text of a page of the console, as the browser has it; its times are those of the test
//	act, logout   POST /act, /logout of the browser: a field on each line, NAME=VALUE; csrf is that of the page unless it is given
//	try           POST /whatif, likewise; it ends with the comparison
//	from ADDRESS  what follows comes from another address
//	wrong N       the status of N requests with tokens wrong1, wrong2, ..., the last one
//	later TIME    time passes, and what is too old is removed
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.HasSuffix(path, ".json") {
			return
		}
		c := newCell(t, 2)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "submit":
				out := ""
				for _, line := range strings.Split(d.Input, "\n") {
					out += c.submit(d.CmdArgs[0].Key, strings.Fields(line)...)
				}
				return out
			case "run":
				c.run()
				return ""
			case "end":
				var exit uint32
				d.MaybeScanArgs(t, "exit", &exit)
				for _, word := range d.CmdArgs {
					if job, err := strconv.ParseUint(word.Key, 10, 32); err == nil {
						c.end(uint32(job), exit)
					}
				}
				return ""
			case "propose":
				return c.proposeWords(d.CmdArgs[0].Key, d.Input)
			case "runs":
				job, _ := strconv.ParseUint(d.CmdArgs[0].Key, 10, 32)
				c.runs(uint32(job))
				return ""
			case "writes":
				c.writes(d.CmdArgs[0].Key, d.Input+"\n")
				c.changes(d)
				return ""
			case "forget":
				c.server.mirror.Ledger.Restart(state.New())
				c.server.mirror.Ledger.Restart(c.c.Core.State())
				return ""
			case "gone":
				c.gone[d.CmdArgs[0].Key] = true
				return ""
			case "link":
				return c.makeLink(d.CmdArgs[0].Key, d.HasArg("revoke"))
			case "open":
				return c.openLink()
			case "wrong":
				n, _ := strconv.Atoi(d.CmdArgs[0].Key)
				return c.guess(n)
			case "from":
				c.from = d.CmdArgs[0].Key
				return ""
			case "see":
				return c.see(d.CmdArgs[0].String())
			case "act":
				return c.act("/act", d.Input)
			case "logout":
				return c.act("/logout", d.Input)
			case "try":
				out := c.act("/whatif", d.Input)
				for _, one := range c.server.cell.trials.kept {
					<-one.ended
				}
				return out
			case "later":
				c.later(d.CmdArgs[0].Key)
				return ""
			}
			return c.transcript(d)
		})
	})
}

func (c *testCell) submit(user string, words ...string) string {
	origin := submit.Here(nil)
	origin.Host, origin.Dir = "master", "/home"
	j, err := submit.Job(origin, words...)
	if err != nil {
		c.t.Fatal(err)
	}
	if j.Spec.SubmitCommand = "secret"; c.plain {
		j.Spec.SubmitCommand = "qsub " + strings.Join(words, " ")
	}
	reply := c.ask(user, "", &gdi.Submit{Job: j})
	out := ""
	for _, a := range reply.Answers {
		out += a.Text + "\n"
	}
	return out
}

// shown are the headers that a transcript shows.
var shown = []string{"Content-Type", "Quill-Sequence", "Etag", "Vary", "Www-Authenticate", "Allow", "Location",
	"Set-Cookie", "Retry-After", keyHeader,
	"Quill-Output-Path", "Quill-Output-Host", "Quill-Output-Offset", "Quill-Output-Next", "Quill-Output-Size",
	"Quill-Output-Ended"}

func (c *testCell) transcript(d *datadriven.TestData) string {
	target, header := d.CmdArgs[0].String(), http.Header{}
	for _, a := range d.CmdArgs[1:] {
		switch a.Key {
		case "as":
			header.Set("Authorization", "Bearer token-"+a.Vals[0])
		case "header":
			name, value, _ := strings.Cut(a.Vals[0], ":")
			header.Set(name, strings.ReplaceAll(value, "~", " "))
		case "browser":
			header.Set("Cookie", c.browser.cookie)
		case "csrf":
			header.Set(entry.CSRFHeader, c.browser.csrf)
		default:
			c.t.Fatalf("unknown word %q", a.Key)
		}
	}
	if strings.HasPrefix(d.Input, "{") {
		header.Set("Content-Type", "application/json")
	}
	return c.printed(d.Cmd+" "+target, c.request(d.Cmd, target, d.Input, header))
}

// printed is an answer as transcripts have it.
func (c *testCell) printed(request string, w *httptest.ResponseRecorder) string {
	out := fmt.Sprintf("%d\n", w.Code)
	for _, name := range shown {
		if v := w.Header().Get(name); v != "" && !(name == "Content-Type" && v == "application/json") {
			out += name + ": " + v + "\n"
		}
	}
	body := w.Body.String()
	if strings.Contains(strings.ReplaceAll(body, "path.secret", ""), "secret") {
		c.t.Errorf("%s: a private field is in the answer:\n%s", request, body)
	}
	return c.browser.hide(out + indented(body))
}

// indented is JSON with a line for each member; other text as it is.
func indented(text string) string {
	out := ""
	for line := range strings.Lines(text) {
		var v any
		if json.Unmarshal([]byte(line), &v) != nil {
			out += strings.TrimRight(line, "\n") + "\n"
			continue
		}
		if object, ok := v.(map[string]any); ok && strings.HasPrefix(fmt.Sprint(object["type"]), problem.Prefix) {
			out += fmt.Sprintf("%v: %v\n", object["type"], object["detail"])
			errors, _ := object["errors"].([]any)
			for _, e := range errors {
				e := e.(map[string]any)
				if where, ok := e["location"]; ok {
					out += fmt.Sprintf("  %v: %v\n", where, e["message"])
				}
			}
			continue
		}
		if items, ok := v.(map[string]any)["items"].([]any); ok {
			for _, item := range items {
				one, _ := json.Marshal(item)
				out += "- " + string(one) + "\n"
			}
			if next, ok := v.(map[string]any)["next"]; ok {
				out += fmt.Sprintf("next: %v\n", next)
			}
			continue
		}
		b, _ := json.MarshalIndent(v, "", " ")
		out += string(b) + "\n"
	}
	return out
}
