package bus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// snapBucket is the object store that holds the snapshots of a cell with an
// external server.
const snapBucket = "GE_SNAP"

const (
	// snapWait is the longest a snapshot may take to be fetched.
	snapWait = 10 * time.Minute
	// pieceWait is how long a piece of a snapshot that was sent may stay without an
	// acknowledgement: one is lost with the server that led. Who is told to stop
	// waits for it, and again for what was sent to be removed.
	pieceWait = 10 * time.Second
)

// OpenSnapshotBucket keeps snapshots in the external server's object store, in
// the given number of copies.
func OpenSnapshotBucket(c *Conn, replicas int) (*Snapshots, error) {
	return openBucket(c, replicas, pieceWait)
}

func openBucket(c *Conn, replicas int, piece time.Duration) (*Snapshots, error) {
	js, err := jetstream.New(c.nc, jetstream.WithDefaultTimeout(piece))
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.within(adminWait)
	defer cancel()
	var b jetstream.ObjectStore
	err = patiently(ctx, nil, func(ctx context.Context) (err error) {
		b, err = js.ObjectStore(ctx, snapBucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			b, err = js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: snapBucket, Storage: jetstream.FileStorage, Replicas: max(1, replicas)})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", snapBucket, err)
	}
	return &Snapshots{snapshotsKept, bucket{c, b}}, nil
}

// bucket is a shelf in an object store.
type bucket struct {
	conn  *Conn
	store jetstream.ObjectStore
}

// put has no deadline of its own: with one, the library would have none for each
// piece, and wait to the end for what is lost.
func (b bucket) put(name string, write func(io.Writer) error) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(write(w)) }()
	_, err := b.store.Put(b.conn.open, jetstream.ObjectMeta{Name: name}, r)
	r.CloseWithError(errors.New("bucket takes no more"))
	return lostError(err)
}

// open fetches the object into a file without a name, because it is read twice.
func (b bucket) open(name string) (io.ReadSeekCloser, error) {
	ctx, cancel := b.conn.within(snapWait)
	defer cancel()
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
	if _, err = io.Copy(f, object); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (b bucket) names() ([]string, error) {
	ctx, cancel := b.conn.within(adminWait)
	defer cancel()
	var infos []*jetstream.ObjectInfo
	err := patiently(ctx, nil, func(ctx context.Context) (err error) {
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

func (b bucket) remove(name string) error {
	ctx, cancel := b.conn.within(adminWait)
	defer cancel()
	err := patiently(ctx, nil, func(ctx context.Context) error { return b.store.Delete(ctx, name) })
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil // an answer before this one was lost
	}
	return lostError(err)
}
