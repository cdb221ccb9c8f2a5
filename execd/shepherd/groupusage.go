package shepherd

import (
	"bytes"
	"path/filepath"
	"time"
)

// What the kernel counts for a control group: usage of all processes that were ever in it, and events.

// groupUsage is what the processes of a control group have used.
type groupUsage struct {
	user, sys time.Duration
	memory    uint64 // bytes now, without cache
	cache     uint64 // bytes of files and the like that the kernel would give up
	peak      uint64 // most bytes that there ever were, with cache; 0: the kernel does not count it
	processes uint64 // and threads now
	io        uint64 // bytes read from and written to devices
}

// readSpent returns what a group has used up: processor time and io. What cannot be read is 0.
func readSpent(dir string) (u groupUsage) {
	eachKey(dir, "cpu.stat", func(key string, n uint64) {
		switch key {
		case "user_usec":
			u.user = time.Duration(n) * time.Microsecond
		case "system_usec":
			u.sys = time.Duration(n) * time.Microsecond
		}
	})
	text, _ := readGroup(dir, "io.stat") // 8:0 rbytes=4096 wbytes=0 rios=1 ...
	for word := range bytes.FieldsSeq(text) {
		if n, is := bytes.CutPrefix(word, []byte("rbytes=")); is {
			u.io += parseUint(n)
		} else if n, is := bytes.CutPrefix(word, []byte("wbytes=")); is {
			u.io += parseUint(n)
		}
	}
	return u
}

// readUsage returns all usage of a group.
func readUsage(dir string) groupUsage {
	u := readSpent(dir)
	eachKey(dir, "memory.stat", func(key string, n uint64) {
		switch key {
		case "active_file", "inactive_file", "slab_reclaimable":
			u.cache += n
		}
	})
	if all := readNumber(dir, "memory.current"); all > u.cache {
		u.memory = all - u.cache
	}
	u.peak = readNumber(dir, "memory.peak")
	u.processes = readNumber(dir, "pids.current")
	return u
}

// readEvent returns a counter of a file of events; 0 when it is not there.
func readEvent(dir, file, name string) (count uint64) {
	eachKey(dir, file, func(key string, n uint64) {
		if key == name {
			count = n
		}
	})
	return count
}

// eachKey calls f for each line of a file that has a key and a number.
func eachKey(dir, file string, f func(key string, n uint64)) {
	text, _ := readGroup(dir, file)
	for line := range bytes.Lines(text) {
		if key, n, ok := bytes.Cut(line, []byte(" ")); ok {
			f(string(key), parseUint(n))
		}
	}
}

// readNumber returns the number in a file; 0 for none and for max.
func readNumber(dir, file string) uint64 {
	text, _ := readGroup(dir, file)
	return parseUint(text)
}

// readGroup returns the text of a file of a group.
func readGroup(dir, file string) ([]byte, error) {
	var buf [8 << 10]byte
	text, err := readSmall(filepath.Join(dir, file), buf[:])
	return bytes.Clone(text), err
}
