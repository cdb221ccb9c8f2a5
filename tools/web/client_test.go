package web_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/client"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/tools/daemons"
	"github.com/quill-grid/quill/tools/daemons/celltest"
	"github.com/quill-grid/quill/tools/web"
)

// The generator of the client, and the module that its clients import.
const (
	generator = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.5.1"
	runtime   = "github.com/oapi-codegen/runtime v1.1.2"
)

// clientMain submits a job with the generated client, reads it back and is refused a wrong one.
const clientMain = `package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"probe/api"
)

func main() {
	token := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}
	c, err := api.NewClientWithResponses(os.Getenv("API"), api.WithRequestEditorFn(token))
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	made, err := c.SubmitJobWithResponse(ctx, nil, api.SubmitJobJSONRequestBody{Options: &[]string{"-N", "generated", "-h"}, Command: &[]string{"true"}})
	if err != nil || made.JSON201 == nil {
		panic(fmt.Sprint(err, " ", made))
	}
	after := made.JSON201.Seq
	row, err := c.GetJobWithResponse(ctx, int32(made.JSON201.Job), &api.GetJobParams{After: &after})
	if err != nil || row.JSON200 == nil {
		panic(fmt.Sprint(err, " ", row))
	}
	wrong, err := c.SubmitJobWithResponse(ctx, nil, api.SubmitJobJSONRequestBody{Options: &[]string{"-pe", "none", "1"}, Command: &[]string{"true"}})
	if err != nil || wrong.ApplicationproblemJSON4XX == nil {
		panic(fmt.Sprint(err, " ", wrong))
	}
	fmt.Println(row.JSON200.JobName, *wrong.ApplicationproblemJSON4XX.Type)
}
`

// TestGeneratedClient: a client that a generator makes of the served description compiles and submits a job to a cell.
// It needs the Go module proxy, or what was downloaded before.
func TestGeneratedClient(t *testing.T) {
	cell := celltest.Start(t, 1, 1)
	url := serve(t, cell)
	answer, err := http.Get(url + "/v1/openapi-3.0.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	description, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"openapi.json": string(description),
		"main.go":      clientMain,
		"go.mod":       "module probe\n\ngo 1.26\n\nrequire " + runtime + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "api"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(what string, env []string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "go", args...)
		c.Dir, c.Env = dir, append(append(os.Environ(), "GOWORK=off"), env...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v (the test needs the Go module proxy, GOPROXY)\n%s", what, err, out)
		}
		return string(out)
	}
	run("generating the client", nil, "run", generator, "-generate", "types,client", "-package", "api", "-o",
		"api/api.go", "openapi.json")
	submits, _ := token(t, cell, grid.ScopeSubmit)
	out := run("compiling and running the client", []string{"API=" + url, "TOKEN=" + submits}, "run", "-mod=mod", ".")
	if want := "generated urn:quill:problem:"; !strings.Contains(out, want) {
		t.Errorf("the client printed %q, not %q", out, want)
	}
}

// serve serves the API of a cell until the test is over.
func serve(t *testing.T, cell *celltest.Cell) (url string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- daemons.Web(ctx, cell.Cell, nil, web.Options{Listen: "127.0.0.1:0", Logger: hclog.NewNullLogger(),
			Ready: func(url string) { ready <- url }})
	}()
	select {
	case url = <-ready:
	case err := <-ended:
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return url
}

// token makes a token of this user, and returns its number, too.
func token(t *testing.T, cell *celltest.Cell, scope grid.Scope) (text string, number uint32) {
	t.Helper()
	c, err := client.Connect(t.Context(), cell.Cell)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	secret := bus.NewSecret()
	reply, err := c.Do(t.Context(), "quill", &gdi.CreateToken{Scope: scope, Digest: bus.Digest(secret)})
	if err != nil || !reply.OK() {
		t.Fatal(err, reply)
	}
	return bus.TokenText(reply.Token, secret), reply.Token
}
