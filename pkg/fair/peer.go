package fair

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// PeerOf returns whose connection it is, before anything was read from it: of a process of this host the uid, also over
// TCP; else the network address, of IPv6 the network of 64 bits. Root and the user of this process are daemons.
func PeerOf(c net.Conn) User {
	switch c := c.(type) {
	case *net.UnixConn:
		if uid, ok := UnixUID(c); ok {
			return userOf(uid)
		}
		return User{Name: "socket"}
	case *net.TCPConn:
		local, remote := c.LocalAddr().(*net.TCPAddr).AddrPort(), c.RemoteAddr().(*net.TCPAddr).AddrPort()
		if ip := remote.Addr(); ip.IsLoopback() || ip == local.Addr() {
			if uid, ok := tcpUID(plain(remote), plain(local)); ok {
				return userOf(uid)
			}
		}
	}
	return UserAt(c.RemoteAddr().String())
}

func userOf(uid uint32) User {
	return User{Name: fmt.Sprintf("uid %d", uid), Daemon: uid == 0 || int(uid) == os.Getuid()}
}

// UserAt returns the user that all clients at an address, HOST:PORT, are.
func UserAt(address string) User {
	from, err := netip.ParseAddrPort(address)
	if err != nil {
		return User{Name: address}
	}
	ip := plain(from).Addr()
	if ip.Is6() {
		network, _ := ip.Prefix(64)
		return User{Name: network.String()}
	}
	return User{Name: ip.String()}
}

func plain(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// UnixUID returns the user id of the process at the other end of a Unix socket.
func UnixUID(c *net.UnixConn) (uid uint32, ok bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	_ = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			uid, ok = peer.Uid, true
		}
	})
	return uid, ok
}

// asked is whether the kernel answers questions about single sockets.
var asked atomic.Bool

// tcpUID returns the uid of the process with the connection from an address of this host to another. The kernel finds
// it in constant time; the list of all connections is read only where it does not.
func tcpUID(from, to netip.AddrPort) (uid uint32, ok bool) {
	if uid, ok = askUID(from, to); ok {
		asked.Store(true)
	}
	if ok || asked.Load() {
		return uid, ok
	}
	path := "/proc/net/tcp"
	if from.Addr().Is6() {
		path = "/proc/net/tcp6"
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	const address, other, state, owner, established = 1, 2, 3, 7, "01"
	mine, yours := tableAddress(from), tableAddress(to)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		w := strings.Fields(lines.Text())
		if len(w) > owner && w[address] == mine && w[other] == yours && w[state] == established {
			_, err := fmt.Sscan(w[owner], &uid)
			return uid, err == nil
		}
	}
	return 0, false
}

// tableAddress is an address as the tables of /proc have it: words as they are in memory.
func tableAddress(a netip.AddrPort) string {
	var b strings.Builder
	for ip := a.Addr().AsSlice(); len(ip) >= 4; ip = ip[4:] {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(ip))
	}
	fmt.Fprintf(&b, ":%04X", a.Port())
	return b.String()
}

// askUID asks the kernel by sock_diag(7). A socket that its process has closed has no owner any more.
func askUID(from, to netip.AddrPort) (uid uint32, ok bool) {
	const (
		byFamily                                    = 20 // SOCK_DIAG_BY_FAMILY
		header                                      = 16
		questionSize                                = 56
		stateAt, uidAt, inodeAt, answer, everyState = 1, 64, 68, 72, 1 << 1
		established                                 = 1
	)
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0, false
	}
	defer unix.Close(fd)
	family := byte(unix.AF_INET)
	if from.Addr().Is6() {
		family = unix.AF_INET6
	}
	q := make([]byte, header+questionSize)
	binary.NativeEndian.PutUint32(q, uint32(len(q)))
	binary.NativeEndian.PutUint16(q[4:], byFamily)
	binary.NativeEndian.PutUint16(q[6:], unix.NLM_F_REQUEST)
	body := q[header:]
	body[0], body[1] = family, unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(body[4:], everyState)
	binary.BigEndian.PutUint16(body[8:], from.Port())
	binary.BigEndian.PutUint16(body[10:], to.Port())
	copy(body[12:28], from.Addr().AsSlice())
	copy(body[28:44], to.Addr().AsSlice())
	for i := 48; i < 56; i++ { // no cookie
		body[i] = 0xff
	}
	if unix.Sendto(fd, q, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}) != nil {
		return 0, false
	}
	var buf [512]byte
	n, _, err := unix.Recvfrom(fd, buf[:], 0)
	if err != nil || n < header+answer || binary.NativeEndian.Uint16(buf[4:]) != byFamily {
		return 0, false
	}
	a := buf[header:n]
	if a[stateAt] != established || binary.NativeEndian.Uint32(a[inodeAt:]) == 0 {
		return 0, false
	}
	return binary.NativeEndian.Uint32(a[uidAt:]), true
}
