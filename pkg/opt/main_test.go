package opt

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// hanging names the variable that makes this test binary a program that hangs
// while it stops.
const hanging = "QUILL_TEST_HANGING"

func TestMain(m *testing.M) {
	if os.Getenv(hanging) != "" {
		Main(func(env Env) int {
			fmt.Fprintln(env.Stdout, "runs")
			<-env.Context.Done()
			fmt.Fprintln(env.Stdout, "stops")
			select {}
		})
	}
	os.Exit(m.Run())
}

// TestSecondSignal: the first signal asks a program to stop, the second ends it.
func TestSecondSignal(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		program := exec.Command(os.Args[0])
		program.Env = append(os.Environ(), hanging+"=1")
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
