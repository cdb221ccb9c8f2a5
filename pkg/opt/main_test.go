package opt

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// hanging names the variable that makes this test binary a program that hangs
// while it stops.
const hanging = "QUILL_TEST_HANGING"

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
	if status := program.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGTERM {
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
