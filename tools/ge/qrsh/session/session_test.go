package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/testkit"
)

// pair is both ends of a line.
func pair(t testing.TB) (user, host *Link) {
	t.Helper()
	door, err := Listen("")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	met := make(chan error, 1)
	go func() {
		var err error
		host, err = Connect(ctx, door.Invitation())
		met <- err
	}()
	user, err = door.Admit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-met; err != nil {
		t.Fatal(err)
	}
	return user, host
}

// Seat is where the user of a test sits.
type Seat struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Terminal       bool
	Size           Size
	Signals        <-chan syscall.Signal
	Resized        <-chan Size
}

// runSession opens the session and attends it to its end.
func (s Seat) runSession(l *Link) (Exit, error) {
	l.Open(s.Terminal, s.Size)
	over := make(chan struct{})
	defer close(over)
	go func() {
		for {
			select {
			case n := <-s.Signals:
				l.Signal(n)
			case size := <-s.Resized:
				l.Resize(size)
			case <-over:
				return
			}
		}
	}()
	return l.Attend(s.Stdin, s.Stdout, s.Stderr)
}

// play runs a shell script with a user in front of it.
func play(t testing.TB, script string, seat Seat) (exit Exit, stdout, stderr string, err error) {
	t.Helper()
	user, host := pair(t)
	var out, errs bytes.Buffer
	if seat.Stdout == nil {
		seat.Stdout = &out
	}
	if seat.Stderr == nil {
		seat.Stderr = &errs
	}
	served := make(chan Exit, 1)
	go func() {
		exit, _ := host.Serve(shell(script))
		host.Close()
		served <- exit
	}()
	exit, err = seat.runSession(user)
	user.Close()
	if hosts := <-served; err == nil && hosts != exit {
		t.Errorf("%s: ended %+v on its host and %+v here", script, hosts, exit)
	}
	return exit, out.String(), errs.String(), err
}

func shell(script string) Command {
	return Command{Argv: []string{"/bin/sh", "-c", script}, Env: os.Environ(), Dir: "/"}
}

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		script, stdin, stdout, stderr string
		code                          int
	}{
		{script: "echo hi", stdout: "hi\n"},
		{script: "echo a; echo b >&2; echo c; exit 7", stdout: "a\nc\n", stderr: "b\n", code: 7},
		{script: "tr a-z A-Z", stdin: "hello", stdout: "HELLO"},
		{script: "true", stdin: strings.Repeat("nobody reads this ", 1<<17)},
		{script: "kill -9 $$", code: 128 + 9},
		{script: "pwd; tty", stdout: "/\nnot a tty\n", code: 1},
		{script: "sleep 1000 & echo left one", stdout: "left one\n"},
		{script: "yes >&2 & echo enough", stdout: "enough\n", stderr: "?"},
	} {
		exit, stdout, stderr, err := play(t, c.script, Seat{Stdin: strings.NewReader(c.stdin)})
		if c.stderr == "?" {
			stderr = c.stderr
		}
		if err != nil || exit.Code() != c.code || stdout != c.stdout || stderr != c.stderr {
			t.Errorf("%s: %d %q %q %v", c.script, exit.Code(), stdout, stderr, err)
		}
	}
}

// TestNoInput: without one, the command sees the end at once.
func TestNoInput(t *testing.T) {
	if exit, out, _, err := play(t, "cat; echo over", Seat{}); err != nil || exit.Code() != 0 || out != "over\n" {
		t.Errorf("%+v %q %v", exit, out, err)
	}
}

func TestNotStarted(t *testing.T) {
	plain := t.TempDir() + "/plain"
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{"/no/such", "executing child process /no/such failed: No such file or directory"},
		{"no-such", "executing child process no-such failed: No such file or directory"},
		{plain, "executing child process " + plain + " failed: Permission denied"},
	} {
		user, host := pair(t)
		go func() {
			host.Serve(Command{Argv: []string{c.path}, Dir: "/"})
			host.Close()
		}()
		exit, err := Seat{Stdin: strings.NewReader("nobody")}.runSession(user)
		user.Close()
		if err != nil || exit.Failure != c.want || exit.Code() != 1 {
			t.Errorf("%s: %+v %v", c.path, exit, err)
		}
	}
}

// TestMuch sends 16 MB through cat, and back.
func TestMuch(t *testing.T) {
	const size = 16 << 20
	sent, got := sha256.New(), sha256.New()
	source := io.TeeReader(io.LimitReader(rand.New(rand.NewSource(1)), size), sent)
	exit, _, _, err := play(t, "cat", Seat{Stdin: source, Stdout: got})
	if err != nil || exit.Code() != 0 || !bytes.Equal(sent.Sum(nil), got.Sum(nil)) {
		t.Errorf("%+v %v: what came back is not what was sent", exit, err)
	}
}

// stuck is where output goes that is not taken until it is released.
type stuck struct{ release chan struct{} }

func (s stuck) Write(p []byte) (int, error) {
	<-s.release
	return len(p), nil
}

// TestSignalPassesInput: a command that does not read gets signals all the
// same.
func TestSignalPassesInput(t *testing.T) {
	signals := make(chan syscall.Signal, 1)
	ready := writer(func(p []byte) (int, error) {
		if strings.HasPrefix(string(p), "ready") {
			signals <- syscall.SIGTERM
		}
		return len(p), nil
	})
	script := "trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.01; done"
	exit, _, _, err := play(t, script, Seat{Stdin: rand.New(rand.NewSource(1)), Stdout: ready, Signals: signals})
	if err != nil || exit.Code() != 3 {
		t.Errorf("%+v %v", exit, err)
	}
}

// TestBackPressure: a command whose output is not read blocks.
func TestBackPressure(t *testing.T) {
	s := stuck{make(chan struct{})}
	count := t.TempDir() + "/count"
	script := "i=0; while [ $i -lt 400 ]; do head -c 65536 /dev/zero; i=$((i+1)); echo $i > " + count + "; done"
	done := make(chan Exit, 1)
	go func() {
		exit, _, _, _ := play(t, script, Seat{Stdout: s})
		done <- exit
	}()
	last, still := "", 0
	testkit.Until(t, "it writes, then it does not", testkit.Patience, func() (bool, string) {
		now, _ := os.ReadFile(count)
		if still++; string(now) != last || last == "" {
			last, still = string(now), 0
		}
		return still == 20, last
	})
	if strings.TrimSpace(last) == "400" {
		t.Error("26 MB went into nowhere")
	}
	close(s.release)
	if exit := <-done; exit.Code() != 0 {
		t.Errorf("%+v", exit)
	}
}

// TestUserGone: the command is hung up, and killed if it does not mind.
func TestUserGone(t *testing.T) {
	// as the starter: what is caught here is not ignored in the command
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	for script, want := range map[string]syscall.Signal{
		"echo ready; sleep 1000":                                  syscall.SIGHUP,
		"trap '' HUP; echo ready; while :; do sleep 1; done":      syscall.SIGKILL,
		"echo ready; yes; sleep 1000":                             syscall.SIGHUP,
		"echo ready; kill -STOP $$; echo never stopped for ever!": syscall.SIGHUP,
	} {
		user, host := pair(t)
		served := make(chan Exit, 1)
		go func() {
			exit, _ := host.Serve(shell(script))
			served <- exit
		}()
		seen, write := io.Pipe()
		go Seat{Stdout: write, Stderr: io.Discard}.runSession(user)
		io.ReadFull(seen, make([]byte, 6))
		user.Close()
		seen.Close()
		if exit := <-served; exit.Signal != want {
			t.Errorf("%s: %+v", script, exit)
		}
		host.Close()
	}
}

// TestLost: without a word about the end the session is lost, not ended.
func TestLost(t *testing.T) {
	user, host := pair(t)
	go func() {
		host.next()
		host.Close()
	}()
	if _, err := (Seat{}).runSession(user); err != ErrLost {
		t.Errorf("%v", err)
	}
}

// typist answers what appears on the screen.
type typist struct {
	screen bytes.Buffer
	keys   *io.PipeWriter
	lines  [][2]string // when the first is seen the second is typed
}

func (y *typist) Write(p []byte) (int, error) {
	y.screen.Write(p)
	if len(y.lines) > 0 && strings.Contains(y.screen.String(), y.lines[0][0]) {
		keys := y.lines[0][1]
		y.lines = y.lines[1:]
		go y.keys.Write([]byte(keys))
	}
	return len(p), nil
}

func TestTerminal(t *testing.T) {
	// handled as in the starter: a test in the background ignores it, and so would the command
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt)
	defer signal.Stop(interrupt)
	stdin, keys := io.Pipe()
	resized := make(chan Size, 1)
	y := &typist{keys: keys, lines: [][2]string{
		{"one>", "stty size; test -t 0 -a -t 1 -a -t 2 && echo yes it is\n"},
		{"yes it is\r\n", "sh -c 'echo doz\"\"ing; exec sleep 1000'\n"},
		{"dozing\r\n", "\x03"},
		{"^C\r\n", "echo wait\"\"ing; until stty size | grep '51 91'; do sleep 0.01; done; PS1=t\"\"wo'>'\n"},
		{"waiting\r\n", ""},
		{"two>", "\x04"}, // before the prompt it would end no input: the shell has yet to take the terminal back
	}}
	watch := writer(func(p []byte) (int, error) {
		n, err := y.Write(p)
		if len(y.lines) == 1 {
			select {
			case resized <- Size{51, 91}:
			default:
			}
		}
		return n, err
	})
	user, host := pair(t)
	go func() {
		host.Serve(
			Command{Argv: []string{"/bin/bash", "--norc", "-i"}, Env: []string{"PS1=one>", "TERM=dumb", "HISTFILE="}, Dir: "/"})
		host.Close()
	}()
	stop := time.AfterFunc(testkit.Patience, func() { user.Close() })
	defer stop.Stop()
	exit, err := Seat{Stdin: stdin, Stdout: watch, Terminal: true, Size: Size{50, 90}, Resized: resized}.runSession(user)
	user.Close()
	if err != nil || exit.Code() != 0 || !strings.Contains(y.screen.String(), "\n50 90\r\n") {
		t.Errorf("%+v %v\n%s", exit, err, y.screen.String())
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// TestTerminalEnds: all output of a terminal comes, also when another process
// keeps it open, and the end of input is its end.
func TestTerminalEnds(t *testing.T) {
	exit, out, _, err := play(t, "trap '' HUP; sleep 1000 & seq 20000", Seat{Terminal: true})
	if err != nil || exit.Code() != 0 || !strings.HasSuffix(out, "20000\r\n") {
		t.Errorf("%+v %v: ends with %q", exit, err, out[max(0, len(out)-20):])
	}
	exit, out, _, err = play(t, "cat; exit 5", Seat{Terminal: true, Stdin: strings.NewReader("line\n")})
	if err != nil || exit.Code() != 5 || !strings.HasSuffix(out, "line\r\nline\r\n") {
		t.Errorf("%+v %v %q", exit, err, out)
	}
	// One that was typed before stty is read after it as 00: the next one is 04.
	exit, out, _, err = play(t, "cat; cat; stty raw; until head -c 1 | od -An -tx1 | grep 04; do :; done; exit 5",
		Seat{Terminal: true, Stdin: strings.NewReader("line")})
	if err != nil || exit.Code() != 5 || !strings.Contains(out, " 04") {
		t.Errorf("%+v %v %q", exit, err, out)
	}
}

// TestStrangers: a client without an invitation is rejected, and does not keep out one
// that has one; nor does a client enter a door that is not the one of its invitation.
func TestStrangers(t *testing.T) {
	door, err := Listen("")
	if err != nil {
		t.Fatal(err)
	}
	other, err := Listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	ctx := context.Background()
	address, secrets, _ := strings.Cut(door.Invitation(), "/")
	print, token, _ := strings.Cut(secrets, "/")
	wrong := strings.Repeat("A", len(token))
	if _, err := Connect(ctx, address+"/"+print+"/"+wrong); !errors.Is(err, errClosed) {
		t.Errorf("with the wrong token: %v", err)
	}
	if _, err := Connect(ctx, other.Address()+"/"+print+"/"+token); err == nil ||
		!strings.Contains(err.Error(), "the fingerprint differs") {
		t.Errorf("talks to somebody else: %v", err)
	}
	for range 100 { // more than there may be
		silent, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
	}
	ctx, cancel := context.WithTimeout(ctx, patience/2)
	defer cancel()
	host, err := Connect(ctx, door.Invitation())
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	user, err := door.Admit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	user.Close()
	if _, err := Connect(ctx, door.Invitation()); err == nil {
		t.Error("let in a second time")
	}
	for _, nonsense := range []string{"", "x", "127.0.0.1:1/x/y", address + "/" + token} {
		if _, err := Connect(ctx, nonsense); err == nil {
			t.Errorf("%q is taken for an invitation", nonsense)
		}
	}
}

// TestNothingIsLeft: sessions leave no goroutine and no file.
func TestNothingIsLeft(t *testing.T) {
	round := func(n int) {
		for i := range n {
			if exit, out, _, err := play(t, "cat", Seat{Stdin: strings.NewReader(fmt.Sprint(i)), Terminal: i%8 == 0}); err !=
				nil || exit.Code() != 0 || out == "" {
				t.Fatalf("%d: %+v %q %v", i, exit, out, err)
			}
		}
	}
	count := func() (goroutines, files int) {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return runtime.NumGoroutine(), len(open)
	}
	round(20)
	goroutines, files := count()
	round(200)
	before := fmt.Sprintf("no more than %d goroutines and %d files", goroutines, files)
	testkit.Until(t, before, testkit.Patience, func() (bool, string) { // the last ones are still ending
		g, f := count()
		return g <= goroutines+2 && f <= files+2, fmt.Sprintf("%d goroutines and %d files", g, f)
	})
}

// FuzzLink: whatever comes over the line, it ends in an error at worst.
func FuzzLink(f *testing.F) {
	f.Add([]byte{frameStdout, 0, 0, 0, 1, 'x', frameExit, 0, 0, 0, 2, 1, 0})
	f.Add([]byte{frameStdout, 255, 0, 0, 1})
	f.Add([]byte{frameCredit, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, bytes []byte) {
		here, there := net.Pipe()
		go io.Copy(io.Discard, there)
		go func() {
			there.Write(bytes)
			there.Close()
		}()
		l := newLink(here)
		l.Attend(nil, io.Discard, io.Discard)
		l.Close()
	})
}

func BenchmarkShort(b *testing.B) {
	for b.Loop() {
		if exit, _, _, err := play(b, "", Seat{}); err != nil || exit.Code() != 0 {
			b.Fatal(exit, err)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	const size = 256 << 20
	b.SetBytes(size)
	for b.Loop() {
		if exit, _, _, err := play(b, fmt.Sprintf("head -c %d /dev/zero", size), Seat{Stdout: io.Discard}); err != nil ||
			exit.Code() != 0 {
			b.Fatal(exit, err)
		}
	}
}
