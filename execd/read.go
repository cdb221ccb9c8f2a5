package execd

import (
	"context"
	"fmt"

	"github.com/quill-grid/quill/execd/shepherd"
	"github.com/quill-grid/quill/pkg/report"
)

// ReadRequest is a request of qmaster for a part of an output file. Answer is called once.
type ReadRequest struct {
	report.Read
	Answer func(report.Piece)
}

// serveReads has output files read until ctx ends, each by a child that runs as the owner of the job.
func (d *daemon) serveReads(ctx context.Context) {
	reads := d.Transport.Reads()
	for {
		select {
		case <-ctx.Done():
			return
		case r, open := <-reads:
			if !open {
				return
			}
			d.readOutput(r)
		}
	}
}

// readOutput begins to read one file and does not wait for it.
func (d *daemon) readOutput(r ReadRequest) {
	refuse := func(kind report.Refusal, text string) { r.Answer(report.Piece{Refused: kind, Text: text}) }
	owner := r.Files.Owner
	switch {
	case r.Epoch < d.epoch.Load():
		refuse(report.NotAllowed, "this qmaster is superseded by another one")
		return
	case !d.readers.Acquire(owner):
		refuse(report.TooMany, "too many output files are being read at present: try again later")
		return
	}
	go func() {
		account, err := d.batches.accounts.Get(owner)
		if err := d.site.Allow(owner, account, err); err != nil {
			d.readers.Release(owner)
			refuse(report.NotAllowed, err.Error())
			return
		}
		file := d.site.OutputFile(&r.Read, account)
		if file.Path == "/dev/null" {
			d.readers.Release(owner)
			refuse(report.NoFile, fmt.Sprintf("there is no output file: the output of job %d goes to /dev/null", r.Files.Job))
			return
		}
		r.Answer(d.readers.Read(owner, account.Owner, shepherd.FilePart{File: file, Offset: r.Offset, Tail: r.Tail}))
	}()
}
