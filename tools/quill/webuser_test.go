package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/quill-grid/quill/pkg/testkit"
	"github.com/quill-grid/quill/pkg/userdb"
)

// TestWebOfAnotherUser: quill web opens what only root may open, then is a process of another user, and can do what it
// could: local users log in, the log is read as the owners of tokens may read it, also after a qmaster that was killed.
func TestWebOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start a process as another user")
	}
	other, err := userdb.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "sge")
	if err := opened(filepath.Dir(root)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, root)
	secret := filepath.Join(root, "secret")
	if err := os.WriteFile(secret, []byte("of the provider\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	qmaster := s.start("qmaster")
	web := s.start("web", "--user", other.Username, "--listen", "127.0.0.1:0", "--oidc-secret", secret)
	url, found := "", regexp.MustCompile(`serving the API: .*url=(\S+)`)
	s.await("quill web", testkit.Patience, func() (bool, string) {
		if m := found.FindStringSubmatch(web.log.String()); m != nil {
			url = m[1]
		}
		return url != "", web.log.String()
	})
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", web.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Uid:" + strings.Repeat("\t"+other.Uid, 4) + "\n",
		"Gid:" + strings.Repeat("\t"+other.Gid, 4) + "\n", "CapEff:\t0000000000000000\n"} {
		if !strings.Contains(string(status), want) {
			t.Errorf("the process is not that of %s: %q is missing in\n%s", other.Username, want, status)
		}
	}
	token := strings.TrimSpace(s.must("quill", "token", "create"))
	past := func() (body string) {
		r, err := http.NewRequest("GET", url+"/v1/jobs?at=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err.Error()
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return fmt.Sprint(answer.Status, " ", string(text), err)
	}
	usable := func() (bool, string) {
		link, complaint, err := s.do("quill", "web", "--open")
		text := past()
		return err == nil && strings.HasPrefix(link, url+"/login/") && strings.HasPrefix(text, "200 OK"),
			link + complaint + text
	}
	s.await("a log-in and the past", testkit.Patience, usable)
	qmaster.kill()
	s.start("qmaster")
	s.await("a log-in and the past, after qmaster was killed", testkit.Patience, usable)

	if _, complaint, err := s.do("quill", "web", "--user", "no.such.account"); err == nil ||
		!strings.Contains(complaint, "useradd --system") {
		t.Errorf("an unknown account: %s", complaint)
	}
}
