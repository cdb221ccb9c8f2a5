package history

import (
	"errors"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/bus"
	"github.com/quill-grid/quill/pkg/codec"
)

// errStopped ends a reading whose reader wants no more.
var errStopped = errors.New("stopped")

// ahead is how many frames may be decoded before they are taken.
const ahead = 64

// Decode calls take with the lists of the frames that read gives, in order. A
// goroutine of its own reads and decodes ahead, so that decoding and taking share
// two processors. Objects that cannot be read are left out and told to odd (nil:
// nobody cares), which that goroutine calls. dec is its own until Decode returns. The error is that of take or of read;
// in the second case take has seen all that came before.
func Decode(dec *codec.Decoder, read func(func(bus.Frame) error) error, odd func(*codec.Unreadable), take func(events.List) error) error {
	decoded, quit := make(chan []events.List, ahead), make(chan struct{})
	var readErr error
	go func() {
		defer close(decoded)
		readErr = read(func(f bus.Frame) error {
			var lists []events.List
			err := dec.Lists(f.Payload, odd, func(l events.List) error {
				lists = append(lists, l)
				return nil
			})
			select {
			case decoded <- lists:
			case <-quit:
				return errStopped
			}
			return err
		})
	}()
	var takeErr error
	for lists := range decoded {
		for _, l := range lists {
			if takeErr != nil {
				break
			}
			if takeErr = take(l); takeErr != nil {
				close(quit)
			}
		}
	}
	if takeErr != nil {
		return takeErr
	}
	return readErr
}
