package shepherd

import (
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Names in the shepherd's directory.
const (
	socketName  = "shepherd.sock"
	lockName    = "shepherd.lock"
	logName     = "shepherd.log"
	journalName = "shepherd.journal"
)

// readyText is what a shepherd that serves writes to standard output before it closes it.
const readyText = "ready\n"

// heldText is what a shepherd writes there that ends at once because another one holds the directory.
const heldText = "held\n"

// socketPath names the socket in an open directory. The address of a Unix socket
// holds 108 bytes, which the directory's own path may be longer than.
func socketPath(dir *os.File) string {
	return filepath.Join("/proc/self/fd", strconv.Itoa(int(dir.Fd())), socketName)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !os.IsNotExist(err)
}

// credentialsOf returns the process at the other end of a connection.
func credentialsOf(c *net.UnixConn) (peer *unix.Ucred, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	if e := raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); e != nil {
		err = e
	}
	return peer, err
}

// DirUnder returns the directory of the shepherd below the spool directory of an execd.
func DirUnder(spool string) string { return filepath.Join(spool, "shepherd") }

// peerPid returns the process at the other end of a connection, 0 when it is not known.
func peerPid(c net.Conn) int {
	if peer, err := credentialsOf(c.(*net.UnixConn)); err == nil {
		return int(peer.Pid)
	}
	return 0
}
