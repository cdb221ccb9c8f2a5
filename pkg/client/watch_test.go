package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quill-grid/quill/pkg/bus"
)

// Frames that wait were sent: who had no time to take them has not lost qmaster. A feed that says nothing for five
// seconds is silent, and one whose server gives no sign of life, nor a frame while that was waited for, is lost at the
// next look.
func TestListen(t *testing.T) {
	const sent = 40
	for _, c := range []struct {
		name   string
		look   time.Duration // what a sign of life takes
		lives  int           // looks that get one
		frames int           // that were received
		after  time.Duration // the last frame
		want   error
	}{
		{"quiet", 0, 1 << 30, sent, silence, errSilent},
		{"busy for longer than silence", silence + time.Second, 1 << 30, sent,
			silence / lookEvery * (silence + time.Second), errSilent},
		{"server busy, frames wait", silence, 0, sent, silence, bus.ErrLost},
		{"lost", 0, 3, 0, 4 * lookEvery, bus.ErrLost},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				frames := make(chan []byte)
				received, looks, last := 0, 0, time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					for range sent {
						select {
						case <-time.After(silence - 2*lookEvery):
						case <-ctx.Done():
							return
						}
						select {
						case frames <- nil:
						case <-ctx.Done():
							return
						}
					}
				}()
				err := listen(ctx, frames, func() bool {
					looks++
					time.Sleep(c.look) // of the bubble
					return looks <= c.lives
				}, func([]byte) error {
					received, last = received+1, time.Now()
					return nil
				})
				cancel()
				if !errors.Is(err, c.want) || received != c.frames {
					t.Errorf("%v after %d frames; want %v after %d", err, received, c.want, c.frames)
				}
				if d := time.Since(last); d > c.after+lookEvery || d < c.after-lookEvery {
					t.Errorf("%v after the last frame; want %v", d, c.after)
				}
			})
		})
	}
}
