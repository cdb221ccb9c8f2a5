package attack

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quill-grid/quill/tools/attack/attacker"
)

// listenersFile is where the sockets are written at which processes of the cell listen.
func (s *site) listenersFile() string { return filepath.Join(s.dir, "listeners") }

// publishListeners writes them again and again, until ctx ends: an ordinary user sees the sockets of a
// host, but not whose they are.
func (s *site) publishListeners(ctx context.Context) {
	for ctx.Err() == nil {
		var lines []string
		for _, l := range s.listeners() {
			lines = append(lines, l.Owner+"\t"+l.Network+"\t"+l.Address+"\n")
		}
		temporary := s.listenersFile() + ".new"
		if os.WriteFile(temporary, []byte(strings.Join(lines, "")), 0o644) == nil {
			os.Rename(temporary, s.listenersFile())
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// listeners are the sockets at which the daemons, the processes below them, and the commands of the honest user listen.
func (s *site) listeners() (all []attacker.Listener) {
	sockets := listening()
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		owner := s.ownerOf(dir)
		if owner == "" {
			continue
		}
		files, _ := os.ReadDir(filepath.Join(dir, "fd"))
		for _, f := range files {
			to, _ := os.Readlink(filepath.Join(dir, "fd", f.Name()))
			if l, ok := sockets[to]; ok {
				l.Owner = owner
				if !slices.Contains(all, l) {
					all = append(all, l)
				}
			}
		}
	}
	return all
}

// ownerOf returns the part of the cell that a process is; "": none that listens.
func (s *site) ownerOf(dir string) string {
	program, _ := os.Readlink(filepath.Join(dir, "exe"))
	if filepath.Dir(program) != filepath.Join(s.dir, "bin") {
		return ""
	}
	words, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
	part := strings.Split(string(words), "\x00")
	if strings.HasPrefix(filepath.Base(part[0]), "q") && !strings.HasPrefix(filepath.Base(part[0]), "quill") {
		return attacker.HonestOwner
	}
	if len(part) > 1 && part[1] != "attack" {
		return part[1]
	}
	return ""
}

// listening are the sockets of this host that wait for connections, by what a descriptor links to.
func listening() map[string]attacker.Listener {
	all := map[string]attacker.Listener{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := os.ReadFile(file)
		for line := range strings.Lines(string(text)) {
			w := strings.Fields(line)
			const listens = "0A"
			if len(w) < 10 || w[3] != listens {
				continue
			}
			_, port, _ := strings.Cut(w[1], ":")
			n, err := strconv.ParseUint(port, 16, 16)
			if err == nil {
				all["socket:["+w[9]+"]"] = attacker.Listener{Network: "tcp", Address: net.JoinHostPort(hostOf(w[1]), fmt.Sprint(n))}
			}
		}
	}
	text, _ := os.ReadFile("/proc/net/unix")
	for line := range strings.Lines(string(text)) {
		const accepts = "00010000"
		if w := strings.Fields(line); len(w) > 7 && w[3] == accepts && strings.HasPrefix(w[7], "/") {
			all["socket:["+w[6]+"]"] = attacker.Listener{Network: "unix", Address: w[7]}
		}
	}
	return all
}

// hostOf is the address in a line of /proc/net/tcp; every address is the loopback one.
func hostOf(word string) string {
	text, _, _ := strings.Cut(word, ":")
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != net.IPv4len || b[3] == 0 {
		return "127.0.0.1"
	}
	return net.IPv4(b[3], b[2], b[1], b[0]).String()
}
