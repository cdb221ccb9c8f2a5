package mailer

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/report"
)

// TestHostileMails: an address is never an option of the mailer, whatever was stored;
// neither is a subject or a text more than that.
func TestHostileMails(t *testing.T) {
	dir := t.TempDir()
	program, sent := filepath.Join(dir, "mailer"), filepath.Join(dir, "sent")
	script := "#!/bin/sh\nfor a; do echo \"arg $a\"; done >> " + sent + "\nsed 's/^/text /' >> " + sent + "\necho end >> " + sent + "\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	m := New(hclog.New(&hclog.LoggerOptions{Output: &log}))
	m.Configure(program)
	m.Add([]report.Mail{{To: "-oQ/tmp", Subject: "s"}, {To: "|sh", Subject: "s"}, {To: "alice@h", Subject: "a\nBcc: bob", Text: "~!id\nx \x1b[2J\xff\n~r /etc/shadow\n"}})
	ctx, cancel := context.WithCancel(context.Background())
	m.Add([]report.Mail{{To: "last", Subject: "-x", Text: "t\n"}})
	go m.Run(ctx)
	for {
		text, _ := os.ReadFile(sent)
		if strings.Count(string(text), "end\n") == 2 {
			want := "arg -s\narg a Bcc: bob\narg alice@h\ntext  ~!id\ntext x ?[2J?\ntext  ~r /etc/shadow\nend\narg -s\narg -x\narg last\ntext t\nend\n"
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
