package web

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
)

// clientOf names who sends a request: the user, of a program on this host; else the network address, of IPv6 the network.
func clientOf(r *http.Request) string {
	if client, ok := r.Context().Value(localKey{}).(string); ok {
		return client
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	ip := from.Addr().Unmap().WithZone("")
	if ip.IsLoopback() {
		if uid, ok := ownerOf(netip.AddrPortFrom(ip, from.Port())); ok {
			return "uid " + uid
		}
	}
	if ip.Is6() {
		network, _ := ip.Prefix(64)
		return network.String()
	}
	return ip.String()
}

// ownerOf returns the uid of the process with a TCP connection from an address of this host, as Linux lists it.
func ownerOf(from netip.AddrPort) (uid string, ok bool) {
	tables := map[string][]byte{"/proc/net/tcp6": nil}
	mapped := from.Addr().As16()
	tables["/proc/net/tcp6"] = mapped[:]
	if ip := from.Addr(); ip.Is4() {
		plain := ip.As4()
		tables["/proc/net/tcp"] = plain[:]
	}
	for path, ip := range tables {
		if uid, ok := ownerIn(path, tableAddress(ip, from.Port())); ok {
			return uid, true
		}
	}
	return "", false
}

// tableAddress is an address as the tables have it: words as they are in memory.
func tableAddress(ip []byte, port uint16) string {
	var b strings.Builder
	for ; len(ip) >= 4; ip = ip[4:] {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(ip))
	}
	fmt.Fprintf(&b, ":%04X", port)
	return b.String()
}

// ownerIn finds the uid of an established connection from a local address in a table.
func ownerIn(path, local string) (uid string, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	const (
		localAddress = 1
		state        = 3
		owner        = 7
		established  = "01"
	)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		word := strings.Fields(lines.Text())
		if len(word) > owner && word[localAddress] == local && word[state] == established {
			return word[owner], true
		}
	}
	return "", false
}

type localKey struct{}

// identify adds the user at the other end of a Unix socket to the context of its connection.
func identify(ctx context.Context, c net.Conn) context.Context {
	local, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	raw, err := local.SyscallConn()
	if err != nil {
		return ctx
	}
	client := "socket"
	_ = raw.Control(func(fd uintptr) {
		if peer, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			client = fmt.Sprintf("uid %d", peer.Uid)
		}
	})
	return context.WithValue(ctx, localKey{}, client)
}
