package procfs

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Stat is what /proc/PID/stat says about a process, proc_pid_stat(5).
type Stat struct {
	PID, Parent         int
	Group, Session      int
	State               byte   // Z: ended, not yet waited for
	UserTicks, SysTicks uint64 // clock ticks, its own and those of children it waited for
	Threads             int
	Start               uint64 // clock ticks since boot
	VMem                uint64 // bytes
	RSS                 uint64 // bytes
}

// TicksPerSecond is USER_HZ, which Linux shows as 100 on every architecture Go runs on.
const TicksPerSecond = 100

var pageSize = uint64(os.Getpagesize())

func TicksToDuration(n uint64) time.Duration {
	return time.Duration(n) * (time.Second / TicksPerSecond)
}

// ReadStat reads /proc/PID/stat; false when there is no such process.
func ReadStat(pid int) (s Stat, ok bool) {
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
		field[n] = ParseUint(word)
		n++
	}
	return Stat{
		PID: pid, Parent: int(field[1]), State: state, Group: int(field[2]), Session: int(field[3]),
		UserTicks: field[11] + field[13], SysTicks: field[12] + field[14],
		Threads: int(field[17]), Start: field[19], VMem: field[20], RSS: field[21] * pageSize,
	}, true
}

// ParseUint reads leading digits; what is not a number is 0.
func ParseUint(b []byte) (n uint64) {
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

// ParsePIDs reads a list of process ids separated by blanks.
func ParsePIDs(b []byte) (pids []int) {
	for word := range bytes.FieldsSeq(b) {
		pids = append(pids, int(ParseUint(word)))
	}
	return pids
}

// ChildrenOf returns the children of a process, of all its threads.
func ChildrenOf(s Stat) (pids []int) {
	base := "/proc/" + strconv.Itoa(s.PID) + "/task/"
	if s.Threads <= 1 {
		b, _ := os.ReadFile(base + strconv.Itoa(s.PID) + "/children")
		return ParsePIDs(b)
	}
	threads, _ := os.ReadDir(base)
	for _, t := range threads {
		b, _ := os.ReadFile(base + t.Name() + "/children")
		pids = append(pids, ParsePIDs(b)...)
	}
	return pids
}

// WalkTree calls f for each process below and including the roots.
func WalkTree(roots []int, f func(Stat)) {
	for len(roots) > 0 {
		pid := roots[len(roots)-1]
		roots = roots[:len(roots)-1]
		s, ok := ReadStat(pid)
		if !ok {
			continue
		}
		f(s)
		roots = append(roots, ChildrenOf(s)...)
	}
}

// ReadIO returns the bytes a process has read and written, /proc/PID/io; 0 where that may not be read.
func ReadIO(pid int) uint64 {
	var buf [512]byte
	b, err := readSmall("/proc/"+strconv.Itoa(pid)+"/io", buf[:])
	if err != nil {
		return 0
	}
	var sum uint64
	for line := range bytes.Lines(b) {
		name, value, _ := bytes.Cut(line, []byte(": "))
		if string(name) == "rchar" || string(name) == "wchar" {
			sum += ParseUint(value)
		}
	}
	return sum
}

// UserOf returns the real user id of a process, from /proc/PID/status.
func UserOf(pid int) uint32 {
	var buf [1024]byte // the line is among the first, and the name before it has at most 64 bytes
	b, _ := readSmall("/proc/"+strconv.Itoa(pid)+"/status", buf[:])
	for line := range bytes.Lines(b) {
		if ids, ok := bytes.CutPrefix(line, []byte("Uid:\t")); ok {
			return uint32(ParseUint(ids))
		}
	}
	return UnknownUser
}

// SignalExactly sends a signal to the process that started then, not to a later one with the same id.
func SignalExactly(pid int, start uint64, sig syscall.Signal) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if s, ok := ReadStat(pid); ok && s.Start == start {
		unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}

func BootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(b))
}

// UptimeTicks returns now on the clock of Stat.Start.
func UptimeTicks() uint64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_BOOTTIME, &t)
	return uint64(t.Sec)*TicksPerSecond + uint64(t.Nsec)/(uint64(time.Second)/TicksPerSecond)
}

// UnknownUser is the uid of a process or attempt whose user is not known.
const UnknownUser = ^uint32(0)
