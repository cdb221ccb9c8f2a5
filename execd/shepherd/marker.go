package shepherd

import (
	"bytes"
	"os"
	"strconv"
)

// environMax bounds how much of an environment is read, in bytes.
const environMax = 256 << 10

// markerOf returns the SGE_JOB_SPOOL_DIR in the environment of a process, "" when there is none within the size of buf
// or when it may not be read. It is the process's own word.
func markerOf(pid int, buf []byte) string {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	defer f.Close()
	n := 0
	for n < len(buf) {
		more, err := f.Read(buf[n:])
		if n += more; err != nil {
			break
		}
	}
	for v := range bytes.SplitSeq(buf[:n], []byte{0}) {
		if spool, ok := bytes.CutPrefix(v, []byte(spoolVariable)); ok {
			return string(spool)
		}
	}
	return ""
}

// spoolVariable is the entry of the environment that marks the processes of an attempt.
const spoolVariable = "SGE_JOB_SPOOL_DIR="
