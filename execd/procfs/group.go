package procfs

import (
	"bytes"
	"path/filepath"
	"time"
)

// What the kernel counts for a control group: usage of all processes that were ever in it, and events.

// GroupUsage is what the processes of a control group have used.
type GroupUsage struct {
	User, Sys time.Duration
	Memory    uint64 // bytes now, without cache
	Cache     uint64 // bytes of files and the like that the kernel would give up
	Peak      uint64 // most bytes that there ever were, with cache; 0: the kernel does not count it
	Processes uint64 // and threads now
	IO        uint64 // bytes read from and written to devices
}

// ReadGroupSpent returns what a group has used up: processor time and io. What cannot be read is 0.
func ReadGroupSpent(dir string) (u GroupUsage) {
	eachKey(dir, "cpu.stat", func(key string, n uint64) {
		switch key {
		case "user_usec":
			u.User = time.Duration(n) * time.Microsecond
		case "system_usec":
			u.Sys = time.Duration(n) * time.Microsecond
		}
	})
	text, _ := ReadGroupFile(dir, "io.stat") // 8:0 rbytes=4096 wbytes=0 rios=1 ...
	for word := range bytes.FieldsSeq(text) {
		if n, is := bytes.CutPrefix(word, []byte("rbytes=")); is {
			u.IO += ParseUint(n)
		} else if n, is := bytes.CutPrefix(word, []byte("wbytes=")); is {
			u.IO += ParseUint(n)
		}
	}
	return u
}

// ReadGroupUsage returns all usage of a group.
func ReadGroupUsage(dir string) GroupUsage {
	u := ReadGroupSpent(dir)
	eachKey(dir, "memory.stat", func(key string, n uint64) {
		switch key {
		case "active_file", "inactive_file", "slab_reclaimable":
			u.Cache += n
		}
	})
	if all := ReadGroupNumber(dir, "memory.current"); all > u.Cache {
		u.Memory = all - u.Cache
	}
	u.Peak = ReadGroupNumber(dir, "memory.peak")
	u.Processes = ReadGroupNumber(dir, "pids.current")
	return u
}

// ReadGroupEvent returns a counter of a file of events; 0 when it is not there.
func ReadGroupEvent(dir, file, name string) (count uint64) {
	eachKey(dir, file, func(key string, n uint64) {
		if key == name {
			count = n
		}
	})
	return count
}

// eachKey calls f for each line of a file that has a key and a number.
func eachKey(dir, file string, f func(key string, n uint64)) {
	text, _ := ReadGroupFile(dir, file)
	for line := range bytes.Lines(text) {
		if key, n, ok := bytes.Cut(line, []byte(" ")); ok {
			f(string(key), ParseUint(n))
		}
	}
}

// ReadGroupNumber returns the number in a file; 0 for none and for max.
func ReadGroupNumber(dir, file string) uint64 {
	text, _ := ReadGroupFile(dir, file)
	return ParseUint(text)
}

// ReadGroupFile returns the text of a file of a group.
func ReadGroupFile(dir, file string) ([]byte, error) {
	var buf [8 << 10]byte
	text, err := readSmall(filepath.Join(dir, file), buf[:])
	return bytes.Clone(text), err
}
