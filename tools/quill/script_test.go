package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	jq "github.com/itchyny/gojq/cli"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/quill-grid/quill/pkg/openid/openidtest"
	"github.com/quill-grid/quill/pkg/opt/opttest"
	"github.com/quill-grid/quill/pkg/testkit"
)

// TestMain has the stories run the programs that are installed. The test binary itself is only nats-server and jq: it
// has three times the size of what users start, and stories start thousands.
func TestMain(m *testing.M) {
	programs := map[string]func(){"quill": nil, "quill-daemon": nil, "quill-lab": nil, "nats-server": natsServerMain,
		"jq": func() { os.Exit(jq.Run()) }}
	for name := range gridEngine {
		programs[name] = nil
	}
	// Other users' commands and jobs get at the programs.
	syscall.Umask(0o022)
	// A story waits more than it works.
	flag.Set("test.parallel", "4")
	testscript.Main(installed{m}, programs)
}

// installed runs tests after the programs are made that testscript has a place for in the path.
type installed struct{ *testing.M }

func (m installed) Run() int {
	if err := install(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.M.Run()
}

// install puts the programs that make build makes where the stories find them: there they can be run by every user.
func install() error {
	quill, err := exec.LookPath("quill")
	if err != nil {
		return err
	}
	dir := filepath.Dir(quill)
	programs := []string{"quill", "quill-daemon", "quill-lab"}
	for _, name := range append(gridNames(), programs...) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	steps := [][]string{{"make", "-C", "../..", "build"}}
	for _, name := range programs {
		steps = append(steps, []string{"cp", "../../bin/" + name, dir})
	}
	for _, args := range append(steps, []string{quill, "links", dir}) {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// TestScript plays the stories of testdata/script, each on a cell of its own. A story is named after the command that
// it is about.
//
// Commands beside testscript's:
//
//	cluster [OPTION...]   quill up with these options; waits until it is up
//	cluster stop          quill down; running jobs continue
//	cluster kill          kill -9 of the whole cell
//	cluster restart       kill, if it runs, and start again with the same options
//	as USER CMD...        run CMD as another user
//	exits N CMD...        run CMD, which must end with status N
//	[!] until RE CMD...   run CMD again and again until what it prints matches RE (or does not)
//	wait-job ID...        wait until the jobs are over and accounted
//	program FILE...       make the files executable by everybody
//	provider [WHAT]       an identity provider, see startProvider
//	token FILE            set QUILL_TOKEN to the token in the file
//	[!] tool NAME JSON    call a tool of quill mcp, see callTool
//	[!] results CMD...    run CMD, which prints a document that matches its JSON Schema (and fails)
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			programs, err := exec.LookPath("quill")
			if err != nil {
				return err
			}
			up := &cluster{root: filepath.Join(e.WorkDir, "sge")}
			e.Values[clusterKey{}] = up
			e.Values[providerKey{}] = new(*openidtest.Provider)
			e.Defer(func() { up.remove(story{e.T()}) })
			e.Setenv("SGE_ROOT", up.root)
			e.Setenv("USER", "root")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("SGE_CELL", "default")
			return opened(e.WorkDir, filepath.Dir(programs))
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"cluster": clusterCmd, "as": as, "exits": exits, "until": until, "wait-job": waitJob, "program": makeProgram,
			"token": useToken, "tamper": tamper, "results": results, "provider": startProvider, "tool": callTool,
		},
	})
}

// TestScriptNames: a story is named after a command that it runs, and what it shows of it: qsub_array.
func TestScriptNames(t *testing.T) {
	stories, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(stories) == 0 {
		t.Fatal("no stories", err)
	}
	for _, path := range stories {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		command, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".txtar"), "_")
		if !strings.HasPrefix(command, "q") {
			command = "quill " + command
		}
		runs := regexp.MustCompile(`(?m)^[^#\n]*\b` + command + `( |$)`)
		if !runs.Match(text) {
			t.Errorf("%s does not run %s", path, command)
		}
	}
}

// results runs a command that prints a document.
func results(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(args[0], args[1:]...)
	if neg == (err == nil) {
		ts.Fatalf("%v", cmp.Or(err, errors.New("it should fail")))
	}
	ts.Check(opttest.CheckDocument(ts.ReadFile("stdout")))
}

// opened lets other users into the directories: theirs are made for one user only.
func opened(dirs ...string) error {
	for _, dir := range dirs {
		if err := os.Chmod(dir, 0o777); err != nil {
			return err
		}
		for up := filepath.Dir(dir); len(up) > len(os.TempDir()); up = filepath.Dir(up) {
			if err := os.Chmod(up, 0o755); err != nil {
				return err
			}
		}
	}
	return nil
}

// patience is how long a story waits for anything.
const patience = testkit.Patience

type clusterKey struct{}

// story fails as testkit wants it.
type story struct{ testscript.T }

func (s story) Fatalf(format string, args ...any) { s.Fatal(fmt.Sprintf(format, args...)) }

// cluster is the cell of a story: a `quill up` of its own.
type cluster struct {
	root    string
	options []string
	up      *exec.Cmd
	said    *transcript // what it wrote on its standard error
	ended   chan struct{}
}

func clusterOf(ts *testscript.TestScript) *cluster { return ts.Value(clusterKey{}).(*cluster) }

func clusterCmd(ts *testscript.TestScript, neg bool, args []string) {
	c := clusterOf(ts)
	word := ""
	if len(args) == 1 {
		word = args[0]
	}
	if len(args) == 2 && args[0] == "logs" {
		re := regexp.MustCompile(args[1])
		testkit.Until(ts, "the cell logs "+args[1], patience, func() (bool, string) {
			return re.MatchString(c.said.String()), c.said.String()
		})
		return
	}
	switch word {
	case "stop":
		ts.Check(ts.Exec("quill", "down"))
		c.wait(ts)
	case "kill":
		c.kill(ts)
	case "restart":
		if c.up != nil {
			c.kill(ts)
		}
		c.start(ts)
	default:
		if len(args) == 0 {
			args = []string{"--hosts", "2", "--slots", "4"}
		}
		c.options = args
		c.start(ts)
	}
}

func (c *cluster) start(ts *testscript.TestScript) {
	if err := os.MkdirAll(c.root, 0o755); err != nil {
		ts.Fatalf("%v", err)
	}
	program, err := exec.LookPath("quill")
	ts.Check(err)
	up := exec.Command(program, append([]string{"up"}, c.options...)...)
	up.Env = append(os.Environ(), "SGE_ROOT="+c.root, "SGE_CELL=default")
	up.Dir = "/"
	c.said = &transcript{}
	up.Stderr = c.said
	out, err := up.StdoutPipe()
	ts.Check(err)
	ts.Check(up.Start())
	c.up, c.ended = up, make(chan struct{})
	ready := make(chan struct{})
	go func() {
		read := bufio.NewReader(out)
		for line, err := read.ReadString('\n'); err == nil; line, err = read.ReadString('\n') {
			if strings.Contains(line, " is up: ") {
				close(ready)
				break
			}
		}
		io.Copy(io.Discard, read)
		up.Wait()
		close(c.ended)
	}()
	select {
	case <-ready:
	case <-c.ended:
		c.up = nil
		ts.Fatalf("quill up ended:\n%s", c.said)
	case <-time.After(patience):
		ts.Fatalf("quill up is not up:\n%s", c.said)
	}
}

// wait waits for the end of the cell.
func (c *cluster) wait(ts *testscript.TestScript) {
	select {
	case <-c.ended:
		c.up = nil
	case <-time.After(patience):
		ts.Fatalf("quill up does not end:\n%s", c.said)
	}
}

func (c *cluster) kill(ts *testscript.TestScript) {
	if c.up == nil {
		ts.Fatalf("no cluster runs")
	}
	c.up.Process.Kill()
	c.wait(ts)
}

// remove ends the cell and what it left running: the shepherds, and they their jobs.
func (c *cluster) remove(t testkit.T) {
	if c.up != nil {
		c.up.Process.Kill()
		<-c.ended
	}
	signal, begun := syscall.SIGTERM, time.Now()
	testkit.Until(t, "the shepherds end", 2*patience, func() (bool, string) {
		if time.Since(begun) > patience {
			signal = syscall.SIGKILL
		}
		pids := shepherds(c.root)
		for _, pid := range pids {
			syscall.Kill(pid, signal)
		}
		return len(pids) == 0, fmt.Sprint(pids)
	})
}

// shepherds are the processes that keep jobs of a cell below root.
func shepherds(root string) (pids []int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		line, _ := os.ReadFile(path)
		if words := bytes.Split(line, []byte{0}); len(words) > 2 && string(words[1]) == "shepherd" &&
			strings.HasPrefix(string(words[2]), root+"/") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// transcript is what a process wrote, readable while it writes.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

func makeProgram(ts *testscript.TestScript, neg bool, args []string) {
	for _, file := range args {
		ts.Check(os.Chmod(ts.MkAbs(file), 0o755))
	}
}

// useToken sets the token that the commands after it connect with.
func useToken(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: token FILE")
	}
	token := regexp.MustCompile(`quill_[0-9]+_[\w-]+`).FindString(ts.ReadFile(args[0]))
	if token == "" {
		ts.Fatalf("no token in %s", args[0])
	}
	ts.Setenv("QUILL_TOKEN", token)
}

// as runs a command as another user, with nothing of ours but the path and the cell.
func as(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: as USER CMD...")
	}
	who, err := user.Lookup(args[0])
	ts.Check(err)
	err = ts.Exec("setpriv", append([]string{"--reuid=" + who.Uid, "--regid=" + who.Gid, "--clear-groups",
		"env", "USER=" + args[0], "LOGNAME=" + args[0]}, args[1:]...)...)
	report(ts, neg, err)
}

// report ends a story whose command did not end as it should.
func report(ts *testscript.TestScript, neg bool, err error) {
	var status *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &status):
		ts.Fatalf("%v", err)
	case err != nil && !neg:
		ts.Fatalf("unexpected failure: %v", err)
	case err == nil && neg:
		ts.Fatalf("unexpected success")
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if err != nil || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS CMD...")
	}
	err = ts.Exec(args[1], args[2:]...)
	var status *exec.ExitError
	got := 0
	switch {
	case errors.As(err, &status):
		got = status.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("ended with status %d, not %d", got, want)
	}
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: until RE CMD...")
	}
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	testkit.Until(ts, strings.Join(args, " "), patience, func() (bool, string) {
		out := printed(ts, args[1:])
		return re.MatchString(out) != neg, out
	})
}

// printed is what a command prints on both of its outputs; how it ends does not matter.
func printed(ts *testscript.TestScript, args []string) string {
	path := args[0]
	if !strings.Contains(path, "/") {
		var err error
		path, err = exec.LookPath(path)
		ts.Check(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "SGE_ROOT="+ts.Getenv("SGE_ROOT"), "SGE_CELL=default", "USER=root",
		"HOME="+ts.Getenv("WORK"))
	out, _ := cmd.CombinedOutput()
	return string(out)
}

func waitJob(ts *testscript.TestScript, neg bool, args []string) {
	for _, id := range args {
		testkit.Until(ts, "the end of job "+id, patience, func() (bool, string) {
			known := printed(ts, []string{"qstat", "-j", id})
			if !strings.Contains(known, "Following jobs do not exist") {
				return false, known
			}
			record := printed(ts, []string{"qacct", "-j", id})
			return strings.Contains(record, "jobnumber "), record
		})
	}
}
