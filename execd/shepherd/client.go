package shepherd

import (
	"context"
	"errors"
)

// Options say where the keeper lives and how to start it.
type Options struct {
	// Dir holds the keeper's socket, lock, journal and log. It must exist and belong to the keeper's uid.
	Dir string
	// Program is run with Dir appended when no keeper answers; nil is this executable with the argument "shepherd".
	Program []string
	// Durable makes begin and end of each attempt survive a power cut: one fsync for all that came together.
	// Without it they survive every death of execd and keeper, but not of the machine.
	Durable bool
}

// ErrGone is returned by every call after the connection is lost or closed. Jobs are not affected: connect again.
var ErrGone = errors.New("shepherd: connection to the keeper lost")

// Keeper is a connection to the host's keeper. Its methods may be called from any goroutine.
type Keeper struct{}

// Connect returns a connection to the keeper of o.Dir, starting it, detached, when none answers.
func Connect(ctx context.Context, o Options) (*Keeper, error) { return nil, ErrGone }

// Attempts delivers what happens, in order, in batches: an attempt that runs, one that ended. The first batch after
// Connect holds every attempt that has ended and is not yet forgotten, so an end is delivered once per connection until
// Forget. The channel is never full for the keeper's side and is closed when the connection is lost.
func (k *Keeper) Attempts() <-chan []Attempt { return nil }

// Start hands plans in. It returns when all accepted ones are journaled; their processes start at once after that,
// and their fate arrives on Attempts. A key already known is answered with where it stands and is not run again.
func (k *Keeper) Start(ctx context.Context, plans []Plan) ([]Answer, error) { return nil, ErrGone }

// Signal delivers s to every process of the attempts. Keys that are unknown or ended are returned as gone.
// Suspend, Resume and Terminate return before a Notify delay has passed.
func (k *Keeper) Signal(ctx context.Context, s Signal, keys ...Key) (gone []Key, err error) {
	return nil, ErrGone
}

// List returns all attempts that are not forgotten, by key.
func (k *Keeper) List(ctx context.Context) ([]Attempt, error) { return nil, ErrGone }

// Usage returns what the given attempts used so far, all running ones when none is given. Unknown keys are left out.
func (k *Keeper) Usage(ctx context.Context, keys ...Key) (map[Key]Usage, error) { return nil, ErrGone }

// Forget drops ended attempts from the keeper's memory and journal. Keys that have not ended are left alone.
func (k *Keeper) Forget(ctx context.Context, keys ...Key) error { return ErrGone }

// Shutdown ends the keeper. While attempts run it is refused, unless force is set: then they are killed first and
// their ends stay in the journal for the next keeper to tell.
func (k *Keeper) Shutdown(ctx context.Context, force bool) error { return ErrGone }

// Close gives the connection up. The keeper and its jobs stay.
func (k *Keeper) Close() error { return nil }
