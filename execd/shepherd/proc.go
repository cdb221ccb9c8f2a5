package shepherd

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stat is what /proc/PID/stat says about a process, proc_pid_stat(5).
type stat struct {
	pid, parent    int
	group, session int
	state          byte   // Z: ended, not yet waited for
	user, sys      uint64 // clock ticks, its own and those of children it waited for
	threads        int
	start          uint64 // clock ticks since boot
	vmem           uint64 // bytes
	rss            uint64 // bytes
}

// ticksPerSecond is USER_HZ, which Linux shows as 100 on every architecture Go runs on.
const ticksPerSecond = 100

var pageSize = uint64(os.Getpagesize())

func ticks(n uint64) time.Duration { return time.Duration(n) * (time.Second / ticksPerSecond) }

// readStat reads /proc/PID/stat; false when there is no such process.
func readStat(pid int) (s stat, ok bool) {
	var buf [1024]byte
	line, err := readSmall("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	if err != nil {
		return s, false
	}
	// The name in parentheses may contain anything; the fields that are counted follow the last one.
	i := bytes.LastIndexByte(line, ')')
	if i < 0 {
		return s, false
	}
	var field [25]uint64 // 0 is field 3
	var state byte
	n := 0
	for word := range bytes.FieldsSeq(line[i+1:]) {
		if n == len(field) {
			break
		}
		if n == 0 {
			state = word[0]
		}
		field[n] = parseUint(word)
		n++
	}
	return stat{
		pid: pid, parent: int(field[1]), state: state, group: int(field[2]), session: int(field[3]),
		user: field[11] + field[13], sys: field[12] + field[14],
		threads: int(field[17]), start: field[19], vmem: field[20], rss: field[21] * pageSize,
	}, true
}

// parseUint reads leading digits; what is not a number is 0.
func parseUint(b []byte) (n uint64) {
	for _, c := range b {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + uint64(c-'0')
	}
	return n
}

// readSmall fills buf from a file in one read, without allocating.
func readSmall(path string, buf []byte) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	n, err := syscall.Read(fd, buf)
	syscall.Close(fd)
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}

// parsePids reads a list of process ids separated by blanks.
func parsePids(b []byte) (pids []int) {
	for word := range bytes.FieldsSeq(b) {
		pids = append(pids, int(parseUint(word)))
	}
	return pids
}

// children returns the children of a process, of all its threads.
func children(s stat) (pids []int) {
	base := "/proc/" + strconv.Itoa(s.pid) + "/task/"
	if s.threads <= 1 {
		b, _ := os.ReadFile(base + strconv.Itoa(s.pid) + "/children")
		return parsePids(b)
	}
	threads, _ := os.ReadDir(base)
	for _, t := range threads {
		b, _ := os.ReadFile(base + t.Name() + "/children")
		pids = append(pids, parsePids(b)...)
	}
	return pids
}

// descend calls f for each process below and including the roots.
func descend(roots []int, f func(stat)) {
	for len(roots) > 0 {
		pid := roots[len(roots)-1]
		roots = roots[:len(roots)-1]
		s, ok := readStat(pid)
		if !ok {
			continue
		}
		f(s)
		roots = append(roots, children(s)...)
	}
}

// readIO returns the bytes a process has read and written, /proc/PID/io; 0 where that may not be read.
func readIO(pid int) uint64 {
	var buf [512]byte
	b, err := readSmall("/proc/"+strconv.Itoa(pid)+"/io", buf[:])
	if err != nil {
		return 0
	}
	var sum uint64
	for line := range bytes.Lines(b) {
		name, value, _ := bytes.Cut(line, []byte(": "))
		if string(name) == "rchar" || string(name) == "wchar" {
			sum += parseUint(value)
		}
	}
	return sum
}

// userOf returns the real user id of a process, from /proc/PID/status.
func userOf(pid int) uint32 {
	var buf [1024]byte // the line is among the first, and the name before it has at most 64 bytes
	b, _ := readSmall("/proc/"+strconv.Itoa(pid)+"/status", buf[:])
	for line := range bytes.Lines(b) {
		if ids, ok := bytes.CutPrefix(line, []byte("Uid:\t")); ok {
			return uint32(parseUint(ids))
		}
	}
	return unknownOwner
}

// killExactly sends a signal to the process that started then, not to a later one with the same id.
func killExactly(pid int, start uint64, sig syscall.Signal) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if s, ok := readStat(pid); ok && s.start == start {
		unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}

func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(b))
}

// uptimeTicks is now on the clock of stat.start.
func uptimeTicks() uint64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_BOOTTIME, &t)
	return uint64(t.Sec)*ticksPerSecond + uint64(t.Nsec)/(uint64(time.Second)/ticksPerSecond)
}
