package serve

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// notifier reports the state of a daemon to systemd, sd_notify(3). Without systemd it does nothing.
type notifier struct{ conn net.Conn }

// unitVariables are what systemd sets for the main process of a unit, systemd.exec(5), and what the environment file of
// Quill's units sets. They must not reach the environment of jobs, load sensors and mailers.
var unitVariables = []string{
	"NOTIFY_SOCKET", "INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "MEMORY_PRESSURE_WATCH",
	"MEMORY_PRESSURE_WRITE",
	"RUNTIME_DIRECTORY", "QMASTER_OPTIONS", "SCHEDD_OPTIONS", "EXECD_OPTIONS", "SHEPHERD_OPTIONS",
}

// newNotifier connects to the socket that systemd names, and removes systemd's variables from the environment. Once ctx
// ends it reports that the daemon is stopping.
func newNotifier(ctx context.Context) *notifier {
	socket := os.Getenv("NOTIFY_SOCKET")
	for _, name := range unitVariables {
		os.Unsetenv(name)
	}
	n := &notifier{}
	if socket == "" {
		return n
	}
	conn, err := net.Dial("unixgram", socket) // a leading @ is the abstract name space, for both
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot report readiness to systemd at %s: %v\n", socket, err)
		return n
	}
	n.conn = conn
	context.AfterFunc(ctx, func() { n.send("STOPPING=1") })
	return n
}

func (n *notifier) send(assignments ...string) {
	if n.conn != nil {
		n.conn.Write([]byte(strings.Join(assignments, "\n"))) // systemd that is gone needs no answer
	}
}

// ready reports that the daemon does its work: what is ordered after its unit is started.
func (n *notifier) ready() { n.send("READY=1", "STATUS=") }

// standby reports that the daemon is ready to take over from another one.
func (n *notifier) standby(status string) { n.send("READY=1", "STATUS="+status) }

// readyPatience is how long a daemon that needs qmaster may wait for it before it is called ready. Without a bound the
// boot of a host would not finish while the qmaster of its cell is down.
const readyPatience = time.Minute

// awaits reports that the daemon waits for the cell, and after readyPatience that it is ready all the same. The
// returned function is ready, to be called once the daemon is registered.
func (n *notifier) awaits(cell string) (registered func()) {
	waiting := "STATUS=waiting for qmaster of cell " + cell
	n.send(waiting)
	late := time.AfterFunc(readyPatience, func() { n.send("READY=1", waiting) })
	return func() {
		late.Stop()
		n.ready()
	}
}
