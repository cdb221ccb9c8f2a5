package mailer

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/fair"
	"github.com/quill-grid/quill/pkg/report"
)

// TestHostileMails: an address is never an option of the mailer, whatever was stored;
// neither is a subject or a text more than that.
func TestHostileMails(t *testing.T) {
	dir := t.TempDir()
	program, sent := filepath.Join(dir, "mailer"), filepath.Join(dir, "sent")
	script := "#!/bin/sh\nfor a; do echo \"arg $a\"; done >> " + sent + "\nsed 's/^/text /' >> " + sent +
		"\necho end >> " + sent + "\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	m := New(hclog.New(&hclog.LoggerOptions{Output: &log}))
	m.Configure(program)
	m.Add([]report.Mail{{To: []string{"-oQ/tmp"}, Subject: "s"}, {To: []string{"|sh"}, Subject: "s"},
		{To: []string{"alice@h"}, Subject: "a\nBcc: bob", Text: "~!id\nx \x1b[2J\xff\n~r /etc/shadow\n"}})
	ctx, cancel := context.WithCancel(context.Background())
	m.Add([]report.Mail{{To: []string{"last"}, Subject: "-x", Text: "t\n"}})
	go m.Run(ctx)
	for {
		text, _ := os.ReadFile(sent)
		if strings.Count(string(text), "end\n") == 2 {
			want :=
				"arg -s\narg a Bcc: bob\narg alice@h\ntext  ~!id\ntext x ?[2J?\ntext  ~r /etc/shadow\nend\narg -s\narg -x\narg last\ntext t\nend\n"
			if string(text) != want {
				t.Errorf("sent\n%swant\n%s", text, want)
			}
			break
		}
	}
	cancel()
	m.Wait()
	if strings.Count(log.String(), "is not valid") != 2 {
		t.Error(log.String())
	}
}

// TestMailIsBounded: what waits is bounded per owner and in all, an owner with much mail does not delay another's, and
// a stop ends it with one line.
func TestMailIsBounded(t *testing.T) {
	dir := t.TempDir()
	program, sent, gate := filepath.Join(dir, "mailer"), filepath.Join(dir, "sent"), filepath.Join(dir, "gate")
	if out, err := exec.Command("mkfifo", gate).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	script := "#!/bin/sh\nread -r line < " + gate + "\necho \"$3\" >> " + sent + "\necho > " + sent + ".done\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	m := New(hclog.New(&hclog.LoggerOptions{Output: &log}))
	m.Configure(program)
	if out, err := exec.Command("mkfifo", sent+".done").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	var many []string
	for range 20_000 {
		many = append(many, "victim@h")
	}
	for i := range 200 {
		m.Add([]report.Mail{{Owner: "mallory", To: many, Subject: strings.Repeat("s", 500), Text: strings.Repeat("t", 500)}})
		if own := m.waiting.Size(); own > ownerMost {
			t.Fatalf("%d mails: %d bytes wait", i, own)
		}
	}
	for i := range 100 {
		m.Add([]report.Mail{{Owner: "u" + strings.Repeat("x", i), To: many, Subject: "s", Text: "t"}})
	}
	if all := m.waiting.Size(); all > allMost {
		t.Fatalf("%d bytes wait", all)
	}
	m.waiting = fair.Queue[message]{}
	m.Add([]report.Mail{{Owner: "mallory", To: many[:1000], Subject: "s"},
		{Owner: "alice", To: []string{"alice@h"}, Subject: "s"}})
	ctx, cancel := context.WithCancel(context.Background())
	go m.Run(ctx)
	for range 2 {
		for _, fifo := range []string{gate, sent + ".done"} {
			if out,
				err := exec.Command("sh", "-c", map[string]string{gate: "echo > " + gate, sent + ".done": "cat " + sent +
				".done"}[fifo]).CombinedOutput(); err != nil {
				t.Fatal(err, string(out))
			}
		}
	}
	cancel()
	m.Wait()
	if text, _ := os.ReadFile(sent); !strings.HasPrefix(string(text), "victim@h\nalice@h\n") {
		t.Errorf("sent %q", text)
	}
	if lines := strings.Count(log.String(), "\n"); lines > 3 || !strings.Contains(log.String(), "the daemon ends") {
		t.Errorf("%d lines: %.1000s", lines, log.String())
	}
}
