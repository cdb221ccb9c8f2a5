package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/quill-grid/quill/pkg/fair"
)

// Bounds of streams. One renders a page when the cell has changed, not more often than every liveGap, and for a page
// that is costly to make less often, so that a stream costs a fifth of a processor at most.
const (
	liveGap   = 100 * time.Millisecond
	liveShare = 4 // times as long as the page took
	liveMark  = 15 * time.Second
	liveWait  = 10 * time.Second // for the reader to take what was sent
)

func newLive() *fair.Places {
	return fair.NewPlaces("live pages", fair.Limits{Total: 256, User: 32})
}

// stream sends the page anew whenever it has changed: event main with its content, event now with the moment.
func (c *Console) stream(w http.ResponseWriter, q *request) {
	if q.query.Get("at") != "" {
		c.refuse(w, q.Request, q,
			&Problem{Status: http.StatusUnprocessableEntity, Text: "A moment of the past does not change."})
		return
	}
	who := fair.User{Name: q.session.User()}
	if err := c.live.Enter(who, 1); err != nil {
		text := "Too many pages follow the cell now."
		if full := (*fair.Full)(nil); errors.As(err, &full) && full.Own {
			text = fmt.Sprintf("%d pages of yours follow the cell now: close one.", full.Most)
		}
		c.refuse(w, q.Request, q, &Problem{Status: http.StatusServiceUnavailable, Text: text})
		return
	}
	defer c.live.Leave(who, 1)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	ctx := q.Context()
	var last []byte
	for ctx.Err() == nil {
		begun := time.Now()
		if !q.session.Valid() {
			_ = send(w, control, "end", []byte("the session has ended"))
			return
		}
		f, main, err := c.fragment(ctx, q)
		if err != nil {
			_ = send(w, control, "end", []byte(err.Error()))
			return
		}
		if !bytes.Equal(main, last) {
			err = send(w, control, "main", main)
		}
		if last = main; err == nil {
			err = send(w, control, "now", fmt.Appendf(nil, `{"seq":%d,"at":%d,"now":%d}`, f.Seq, f.Time, f.Now))
		}
		if err != nil {
			return
		}
		rest := max(liveGap, liveShare*time.Since(begun)) - time.Since(begun)
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return
		}
		longest := liveMark
		if b, is := f.Data.(interface{ Beat() time.Duration }); is && b.Beat() > 0 {
			longest = b.Beat()
		}
		mark, cancel := context.WithTimeout(ctx, longest)
		c.cell.Changed(mark, f.Seq)
		cancel()
	}
}

// fragment renders the main part of a page.
func (c *Console) fragment(ctx context.Context, q *request) (*frame, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, pageWait)
	defer cancel()
	one := *q
	return c.bounded(ctx, &one, func(f *frame) []byte {
		var b bytes.Buffer
		if err := c.pages[q.page.name].ExecuteTemplate(&b, "main", f); err != nil {
			panic(err) // guarded by the server
		}
		return b.Bytes()
	})
}

// send sends an event.
func send(w http.ResponseWriter, control *http.ResponseController, event string, data []byte) error {
	if err := control.SetWriteDeadline(time.Now().Add(liveWait)); err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "event: %s\n", event)
	for line := range bytes.Lines(data) {
		fmt.Fprintf(&b, "data: %s\n", bytes.TrimRight(line, "\r\n"))
	}
	b.WriteByte('\n')
	if _, err := w.Write(b.Bytes()); err != nil {
		return err
	}
	return control.Flush()
}
