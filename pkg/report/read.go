package report

import "time"

// Bounds of reading output files.
const (
	ReadMax  = 64 << 10        // bytes of an answer
	ReadWait = 2 * time.Second // for the host to open and read a file
)

// Read asks the execd of a host for a part of an output file of a task, which it reads as the owner of the job.
// Standard error has a file of its own.
type Read struct {
	Epoch  uint64
	Task   uint32
	Files  Files
	Stderr bool
	Offset uint64 // the part begins there, unless Tail is set
	Tail   uint32 // the part is the last lines, so many at most
}

// Files are the attributes of a job from which a host derives the paths of the output files.
type Files struct {
	Job            uint32
	Array          bool
	Name, Owner    string
	Cwd            string
	Stdout, Stderr []string // [host:]path
}

// Refusal is why a file was not read.
type Refusal uint8

const (
	Readable   Refusal = iota
	NoFile             // it does not exist
	NotAllowed         // the owner may not read it, or it is not a regular file of the owner
	NoAnswer           // its file system does not answer, or the host could not start the reader
	TooMany            // so many are being read: later
)

// Piece is the answer to a Read. With a Refusal, which Text explains, there is only Path.
type Piece struct {
	Refused   Refusal
	Text      string
	Path      string
	Offset    uint64 // of Data
	Size      uint64 // of the file
	Truncated bool   // the file is shorter than the offset that was asked for: Data begins with the file
	Data      []byte
}
