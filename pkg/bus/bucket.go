package bus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/quill-grid/quill/pkg/archive"
)

// snapBucket is the object store that holds the snapshots of a cell with an
// external server.
const snapBucket = "GE_SNAP"

// pieceWait is how long to wait for the acknowledgement of a piece of a snapshot: one is
// lost when the leading server fails. A snapshot that is stopped waits as long, and again
// for the removal of the pieces sent. The wait for a piece that is fetched is three times
// as long: the library checks every ten seconds whether one was lost.
const pieceWait = 10 * time.Second

// OpenSnapshotBucket keeps snapshots in the external server's object store, in
// the given number of copies.
func OpenSnapshotBucket(c *Conn, replicas int) (*archive.Snapshots, error) {
	return openBucket(c, replicas, pieceWait)
}

func openBucket(c *Conn, replicas int, piece time.Duration) (*archive.Snapshots, error) {
	js, err := jetstream.New(c.nc, jetstream.WithDefaultTimeout(piece))
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.contextWithin(adminWait)
	defer cancel()
	var b jetstream.ObjectStore
	err = c.retryUntilLed(ctx, nil, func(ctx context.Context) (err error) {
		b, err = js.ObjectStore(ctx, snapBucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			b, err = js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: snapBucket, Storage: jetstream.FileStorage,
				Replicas: max(1, replicas)})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", snapBucket, err)
	}
	return archive.NewSnapshots(snapshotBucket{c, b, 3 * piece}), nil
}

// snapshotBucket is a Store in an object store.
type snapshotBucket struct {
	conn  *Conn
	store jetstream.ObjectStore
	wait  time.Duration // for a piece that is fetched
}

// Put has no deadline of its own: with one, the library would have none for each
// piece, and wait to the end for what is lost.
func (b snapshotBucket) Put(name string, write func(io.Writer) error) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(write(w)) }()
	_, err := b.store.Put(b.conn.open, jetstream.ObjectMeta{Name: name}, r)
	r.CloseWithError(errors.New("bucket takes no more"))
	return lostError(err)
}

// Open fetches the object into a file without a name, because it is read twice. It
// gives up when nothing of it has come for a while, however long the whole takes.
func (b snapshotBucket) Open(name string) (io.ReadSeekCloser, error) {
	ctx, cancel := context.WithCancel(b.conn.open)
	defer cancel()
	late := time.AfterFunc(b.wait, cancel)
	defer late.Stop()
	f, err := b.fetchObject(rollingDeadline{ctx, b.wait}, name, late)
	if errors.Is(err, context.Canceled) && b.conn.open.Err() == nil {
		return nil, fmt.Errorf("nothing of it has come for %v", b.wait)
	}
	return f, lostError(err)
}

func (b snapshotBucket) fetchObject(ctx context.Context, name string, late *time.Timer) (io.ReadSeekCloser, error) {
	object, err := b.store.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	defer object.Close()
	f, err := os.CreateTemp("", name)
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	if _, err = io.Copy(f, progressReader{object, late, b.wait}); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// progressReader has late wait anew whenever something comes.
type progressReader struct {
	io.Reader
	late *time.Timer
	wait time.Duration
}

func (a progressReader) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if n > 0 {
		a.late.Reset(a.wait)
	}
	return n, err
}

// rollingDeadline is a context whose deadline is always some time away: the library gives
// one without any a deadline of its own, for all that it fetches.
type rollingDeadline struct {
	context.Context
	wait time.Duration
}

func (e rollingDeadline) Deadline() (time.Time, bool) { return time.Now().Add(e.wait), true }

func (b snapshotBucket) Names() ([]string, error) {
	ctx, cancel := b.conn.contextWithin(adminWait)
	defer cancel()
	var infos []*jetstream.ObjectInfo
	err := b.conn.retryUntilLed(ctx, nil, func(ctx context.Context) (err error) {
		infos, err = b.store.List(ctx)
		return err
	})
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, nil
	}
	var names []string
	for _, info := range infos {
		names = append(names, info.Name)
	}
	return names, lostError(err)
}

func (b snapshotBucket) Remove(name string) error {
	ctx, cancel := b.conn.contextWithin(adminWait)
	defer cancel()
	err := b.conn.retryUntilLed(ctx, nil, func(ctx context.Context) error { return b.store.Delete(ctx, name) })
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil // an answer before this one was lost
	}
	return lostError(err)
}
