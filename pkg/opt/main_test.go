package opt

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// hanging names the variable that makes this test binary a program that hangs
// while it stops.
const hanging = "QUILL_TEST_HANGING"

// conversing names the variable with the script that it converses with.
const conversing = "QUILL_TEST_CONVERSING"

// printing names the variable that makes it one that prints.
const printing = "QUILL_TEST_PRINTING"

func TestMain(m *testing.M) {
	if os.Getenv(hanging) != "" {
		Main(func(env Env) int {
			if os.Getenv(hanging) == "orderly" {
				env.StopsItself()
			}
			fmt.Fprintln(env.Stdout, "runs")
			<-env.Context.Done()
			fmt.Fprintln(env.Stdout, "stops")
			select {}
		})
	}
	if script := os.Getenv(conversing); script != "" {
		Main(func(env Env) int {
			env = env.Printable()
			if err := env.Converse(nil, "/bin/sh", "-c", script); err != nil {
				fmt.Fprintln(env.Stderr, err)
				return 1
			}
			fmt.Fprintln(env.Stdout, "the next \x1b[1m is filtered")
			return 0
		})
	}
	if os.Getenv(printing) != "" {
		Main(func(env Env) int {
			fmt.Fprintln(env.Stdout, "done")
			return 0
		})
	}
	os.Exit(m.Run())
}

// TestFullOutput: what could not be printed is said, and is no success.
func TestFullOutput(t *testing.T) {
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), printing+"=1")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	var said strings.Builder
	program.Stdout, program.Stderr = full, &said
	err = program.Run()
	if program.ProcessState.ExitCode() != 1 || said.String() != "error: write /dev/stdout: no space left on device\n" {
		t.Errorf("%v, said %q", err, &said)
	}
}

// TestFirstSignalEndsCommands: a command that is blocked, as one that reads a FIFO
// is, ends by the first signal.
func TestFirstSignalEndsCommands(t *testing.T) {
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), hanging+"=1")
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it runs
		t.Fatal(err)
	}
	if err := program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = program.Wait()
	if status := program.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() ||
		status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v, want by SIGTERM", program.ProcessState)
	}
}

// TestSecondSignal: the first signal asks a program to stop, the second ends it.
func TestSecondSignal(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		program := exec.Command(os.Args[0])
		program.Env = append(os.Environ(), hanging+"=orderly")
		out, err := program.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		said := bufio.NewScanner(out)
		for _, want := range []string{"runs", "stops"} {
			if !said.Scan() || said.Text() != want {
				t.Fatalf("%q instead of %q", said.Text(), want)
			}
			program.Process.Signal(s)
		}
		program.Wait()
		if status := program.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != s {
			t.Errorf("%v: ended with %v", s, program.ProcessState)
		}
	}
}

// TestConverse: a program that the user talks to has the terminal for its input and output, and Ctrl-C and Ctrl-\ are
// keys of its own.
func TestConverse(t *testing.T) {
	master, slave := openTerminal(t)
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), conversing+`=trap 'key=1; echo got INT' INT; trap 'key=1; echo got QUIT' QUIT
		test -t 0 && test -t 1 && test -t 2 && printf '\033[2Jready\n'; while key=; read line || test "$key"; do echo "line $line"; done; echo left`)
	program.Stdin, program.Stdout, program.Stderr = slave, slave, slave
	program.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	said := bufio.NewScanner(master)
	for _, step := range []struct{ keys, shown string }{
		{"", "\x1b[2Jready"}, {"one\n", "line one"}, {"\x03", "got INT"}, {"two\n", "line two"}, {"\x03", "got INT"},
		{"\x1c", "got QUIT"}, {"three\n", "line three"}, {"\x04", "left"}, {"", "the next ?[1m is filtered"},
	} {
		if _, err := master.WriteString(step.keys); err != nil {
			t.Fatal(err)
		}
		for said.Scan() && !strings.HasSuffix(said.Text(), step.shown) {
			t.Logf("%q", said.Text()) // the echo of what is typed, too
		}
		if !strings.HasSuffix(said.Text(), step.shown) {
			t.Fatalf("after %q: no %q", step.keys, step.shown)
		}
	}
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
}

// openTerminal makes a pseudo terminal, pty(7).
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	n, err := unix.IoctlGetUint32(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}
