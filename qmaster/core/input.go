package core

import (
	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/orders"
	"github.com/quill-grid/quill/pkg/gdi"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// Input is one request, report or tick for qmaster. Ref is the shell's
// handle for the answer.
type Input interface{ input() }

// UserRequest is a user's request, except gdi.Get, which Query answers. Job is the number
// that was set aside for the job that it submits; 0: the next number. Proof is what the ID token of a gdi.LogIn proves.
// CopyOf is the job that a gdi.Submit was a gdi.Resubmit of before a verifier looked at it; 0: none.
type UserRequest struct {
	Ref uint64
	gdi.Request
	Job    uint32
	Proof  *Proof
	CopyOf uint32
}

// Orders is a scheduling run's list.
type Orders struct {
	Ref uint64
	orders.List
}

// Report is what an execution daemon says.
type Report struct {
	Ref uint64
	report.Report
}

// Scheduler reports that a scheduler has registered; it replaces the one before. An empty
// Name reports that the registered scheduler has disconnected.
type Scheduler struct{ Name string }

// Tick means that time has passed. The shell ticks about once a second.
type Tick struct{}

// Undelivered is the notice that the agent of a host was not connected when a command was sent to it: it is lost.
type Undelivered struct {
	Host   string
	Number uint64 // of the Command
}

// Gone is the notice that no client waits for the answers to Refs, which ascend, any more.
type Gone struct{ Refs []uint64 }

func (UserRequest) input() {}
func (Orders) input()      {}
func (Report) input()      {}
func (Scheduler) input()   {}
func (Tick) input()        {}
func (Gone) input()        {}
func (Undelivered) input() {}

// Ready is what must now happen, in this order: append List (when it has
// events), then give the answers and send the commands.
type Ready struct {
	List     events.List
	Answers  []Answer
	Commands []Command
	Reads    []Read
	More     bool // the rest of a request, or of what follows from it, waits for a Continue; others may come before
	Recall   bool // read Ends from the log, and give them as Recalled: requests wait for them
	Mails    []report.Mail
	// Forgotten are attempts that hosts report and a restored state does not know.
	Forgotten []Forgotten

	Stop bool // qconf -km: go down when this is done
}

// Answer goes to the client that waits for Ref; one of the three is set.
type Answer struct {
	Ref     uint64
	Reply   *gdi.Reply
	Result  *orders.Answer
	Receipt *report.Receipt
}

// Command goes to the execution daemon of a host. Numbers ascend, and are of this process.
type Command struct {
	Host   string
	Number uint64
	report.Command
}

// Read is a part of an output file that the execution daemon of a host is to read for the client that waits for Ref.
type Read struct {
	Ref     uint64
	Host    string
	Running bool // the task runs
	report.Read
}

// Forgotten is an attempt on a host that a restored state does not know.
type Forgotten struct {
	Host    string
	Attempt report.Attempt
	Start   grid.Time
	Fate    string // what becomes of it
}

// Proof is what an ID token says, which the shell has verified: it is signed by the provider for the cell.
type Proof struct {
	Issuer, Client string
	Subject        string    // who it is about, at the provider
	Name           string    // the value of the claim that names the user; "": it does not have the claim
	ID             string    // the SHA-256 of the ID token, in hexadecimal digits
	Expires        grid.Time // of the ID token
}
