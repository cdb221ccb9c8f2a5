package history

import (
	"cmp"
	"errors"
	"sync"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/codec"
	"github.com/quill-grid/quill/pkg/frame"
)

// errStopped ends a reading whose reader wants no more.
var errStopped = errors.New("stopped")

// Frames that may be read before they are decoded, and decoded before they are
// taken.
const (
	readAhead = 8
	ahead     = 64
)

// Decode calls take with the lists of the frames that read gives, in order. One goroutine
// reads ahead, which is mostly checking hashes, and one decodes, so that these and take
// share the processors. Objects that cannot be read are left out and reported to odd,
// unless it is nil, by the goroutine that decodes. dec is its own until Decode returns.
// The error is that of take or of read; in the second case take was called with all lists
// before it.
func Decode(
	dec *codec.Decoder, read func(func(frame.Frame) error) error, odd func(*codec.Unreadable),
	take func(events.List) error,
) error {
	return decodeFrames(read, func(payload []byte, each func(events.List) error) error {
		return dec.Lists(payload, odd, each)
	}, take)
}

// decodeFrames is Decode with lists as decode finds them.
func decodeFrames(
	read func(func(frame.Frame) error) error, decode func(payload []byte, each func(events.List) error) error,
	take func(events.List) error,
) error {
	frames, decoded := make(chan frame.Frame, readAhead), make(chan []events.List, ahead)
	quit := make(chan struct{})
	stop := sync.OnceFunc(func() { close(quit) })
	var readErr, decodeErr, takeErr error
	go func() {
		defer close(frames)
		readErr = read(func(f frame.Frame) error { return pass(frames, f, quit) })
	}()
	go func() {
		defer close(decoded)
		for f := range frames {
			var lists []events.List
			decodeErr = decode(f.Payload, func(l events.List) error {
				lists = append(lists, l)
				return nil
			})
			if pass(decoded, lists, quit) != nil {
				break
			}
			if decodeErr != nil {
				stop()
				break
			}
		}
		for range frames { // until nothing is read any more
		}
	}()
	for lists := range decoded {
		for _, l := range lists {
			if takeErr = take(l); takeErr != nil {
				stop()
				break
			}
		}
		if takeErr != nil {
			break
		}
	}
	for range decoded { // until nothing is decoded any more
	}
	return cmp.Or(takeErr, decodeErr, readErr)
}

// pass sends v unless the reader has stopped.
func pass[T any](to chan<- T, v T, quit <-chan struct{}) error {
	select {
	case to <- v:
		return nil
	case <-quit:
		return errStopped
	}
}
