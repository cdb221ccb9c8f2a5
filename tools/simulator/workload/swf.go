package workload

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// SWF is a workload as it was logged, in the Standard Workload Format.
type SWF struct {
	Header []string // without the semicolon
	Jobs   []Job    // as they stand in the file
}

// Job is a line of a log. -1 stands for unknown. Seconds count from the log's
// start, and their fractions are dropped.
type Job struct {
	Number     int64
	Submit     int64 // seconds
	Run        int64 // seconds
	Allocated  int64 // processors it had
	Requested  int64 // processors it asked for
	Estimate   int64 // seconds it asked for: its limit
	User       int64
	Group      int64
	Executable int64
	Queue      int64
}

// fields is how many numbers a line has.
const fields = 18

// ReadLog reads a log, compressed with gzip or not. The error names the line.
func ReadLog(from io.Reader) (SWF, error) {
	buffered := bufio.NewReaderSize(from, 1<<16)
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			return SWF{}, err
		}
		buffered = bufio.NewReaderSize(unpacked, 1<<16)
	}
	var log SWF
	for n := 1; ; n++ {
		line, err := buffered.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return SWF{}, fmt.Errorf("line %d: too long for a workload log", n)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if wrong := log.line(text); wrong != nil {
				return SWF{}, fmt.Errorf("line %d: %w", n, wrong)
			}
		}
		switch {
		case err == io.EOF && len(log.Jobs) == 0:
			return SWF{}, errors.New("no job in it")
		case err == io.EOF:
			return log, nil
		case err != nil:
			return SWF{}, fmt.Errorf("line %d: %w", n, err)
		}
	}
}

// line takes in one line.
func (l *SWF) line(text []byte) error {
	if text[0] == ';' {
		l.Header = append(l.Header, strings.TrimSpace(string(text[1:])))
		return nil
	}
	var j Job
	into := [fields]*int64{0: &j.Number, 1: &j.Submit, 3: &j.Run, 4: &j.Allocated, 7: &j.Requested, 8: &j.Estimate,
		11: &j.User, 12: &j.Group, 13: &j.Executable, 14: &j.Queue}
	n := 0
	for word := range bytes.FieldsSeq(text) {
		v, err := number(word)
		if err != nil {
			return fmt.Errorf("field %d: %q is no number", n+1, word)
		}
		if n < fields && into[n] != nil {
			*into[n] = v
		}
		n++
	}
	if n != fields {
		return fmt.Errorf("%d fields, not %d", n, fields)
	}
	l.Jobs = append(l.Jobs, j)
	return nil
}

// number reads a number; most are whole.
func number(word []byte) (n int64, err error) {
	if len(word) < 18 {
		digits := bytes.TrimPrefix(word, []byte{'-'})
		for _, d := range digits {
			if d < '0' || d > '9' {
				return fraction(word)
			}
			n = n*10 + int64(d-'0')
		}
		if len(digits) > 0 {
			if len(digits) < len(word) {
				n = -n
			}
			return n, nil
		}
	}
	return fraction(word)
}

func fraction(word []byte) (int64, error) {
	x, err := strconv.ParseFloat(string(word), 64)
	if err == nil && (math.IsNaN(x) || math.Abs(x) > 1<<53) {
		err = strconv.ErrRange
	}
	return int64(x), err
}

// Field is a field of the header, such as MaxProcs; "" when it has none.
func (l SWF) Field(name string) string {
	for _, h := range l.Header {
		if key, value, ok := strings.Cut(h, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
