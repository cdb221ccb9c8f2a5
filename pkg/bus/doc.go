// Package bus moves bytes between the programs of a cell and keeps the event
// log. It knows NATS: connections, subjects, which roles use
// which subject, how a frame of event lists (pkg/frame) is appended and read back,
// how the log is exported to files (pkg/archive). It must not know what a list
// says: payloads are opaque, and no rule of the cluster lives here.
//
//	Server ── embedded server: store, durability, Unix socket, TCP, authentication;
//	  │       nats-server itself is its Engine, in pkg/bus/embedded: clients do not link it
//	  │
//	Conn ──── one connection under one Identity: Publish, Subscribe, Request, Serve,
//	  │       Announce (I serve now: ask again), RequestStream (a big answer in windowed chunks)
//	  │
//	LocalConn over the Unix socket only: requests to the owner and its answers, without
//	  │       NATS between
//	Log ───── the stream GE_EVENTS: Append (one fenced publish), Read (checked), Purge
//	  ├─ Committer ── group commit: lists pile up while the last frame is synced and answered clients ask again
//	  ├─ StreamView ─ what the stream holds now, in the blocks of an archive
//	  ├─ Debug ────── the stream GE_DEBUG: messages that no client waits for, kept for a while
//	  └─ Lease ────── who leads, when the server is an external one
//	Feed ──── lists to all subscribers, in frames of its own; heartbeats
//	Follower  the reader's end: frames from the feed in, unbroken lists out
//
// # The owner of a log (qmaster)
//
//	found, err := bus.CheckLog(dir, dir+"/mark", stream)   // would the server cut it? Then StartCopy, and Read there
//	srv, err := bus.Start(bus.ServerOptions{Dir: dir, Durable: true, Socket: sock, Rebuild: found.Rebuild})
//	conn, err := srv.Connect(bus.Identity{Role: bus.QMaster, Name: "qmaster"}) // or bus.Connect(...)
//	log, err := bus.Open(conn, bus.LogOptions{HighWaterMark: dir + "/mark"})
//	snaps, err := archive.OpenSnapshots(dir + "/snapshots")
//	at, err := snaps.Newest(rejected, apply)               // broken ones are skipped
//	log.SetBase(at)
//	end, err := log.Read(at, func(f frame.Frame) error { … })  // *Damage: stop; *ShortLogError: continue from at
//	err = log.TakeOver(seq)                                // new epoch, fenced, read back
//	feed := conn.NewFeed(bus.FeedSubject(), log.Tail())
//	c := bus.NewCommitter(log, landed, failed)
//	c.Put(seq, encode)                                     // never blocks
//
// landed is called in order, one frame at a time, when it is on disk: answer,
// command and publish to the feed then, never before. failed means die and
// replay: ErrFenced when another process wrote, ErrLogFailed otherwise.
//
// # All other programs
//
//	conn, err := bus.Connect(bus.ConnOptions{Socket: sock})
//	answer, err := conn.Ask(ctx, "add", data)
//
//	line, err := bus.DialLocal(bus.ConnOptions{Socket: sock})   // the same, for who only asks
//	answer, err := line.Ask(ctx, "add", data)
//
// An event client subscribes to a feed, registers (a streamed full state at a
// Point), and gives every frame to a Follower. The feed is plain publish and
// subscribe: only the owner has any JetStream rights, and no client needs
// them, because a gap, a broken chain or a new epoch is seen at once and
// answered by registering again.
//
// # Files, in the order to read them
//
// Authentication, authorization and limits of connections:
//
//	subjects.go       the subjects of a cell
//	identity.go       roles and identities
//	rights.go         the table of what each role may publish and read
//	authenticator.go  the identity of a connection's credentials; tickets, each good for one connection
//	token.go          tokens: credentials that users make for programs; tokencheck.go verifies them
//	guest.go          clients that have no credentials yet, and log in
//	cert.go           what certificates name; tls.go the files of certificates
//	keys.go           nkeys, and the file of the registered ones
//	revocable.go      the connections whose credentials can be revoked
//	listener.go       accepts connections:
//	socket.go         over the Unix socket, where the kernel identifies the client
//	network.go        over TCP, where the client has a key or a certificate
//	bridge.go         carries NATS between a client and the server
//	quota.go          how many connections a user may have, and what is reserved for daemons
//	bounds.go         how much memory all connections may take:
//	incomplete.go     large messages that have begun to arrive
//	writebuffer.go    answers that clients do not read
//	ratelimit.go      messages about one user in the server's log
//
// Connections and requests:
//
//	server.go         the embedded server; engine.go what it needs of nats-server
//	conn.go           a connection; dialer.go how it reaches the server and authenticates; errors.go
//	serve.go          requests received and answered; streamed answers
//	localconn.go      requests over the socket without NATS; localsession.go the server's end;
//	                  socketwire.go the bytes of both, and of the handshake
//	requestqueue.go   where requests arrive, and in which turns they are handled
//	retry.go          retries while a server changes its leader
//
// The log:
//
//	log.go            Open, Append, TakeOver; ack.go a frame's way to the server and back; jsapi.go
//	                  the server's answers
//	streamdef.go      what makes the definition of a stream outlive a power cut
//	committer.go      the group commit
//	read.go           the log read back, checked; messages.go gets it from the server
//	highwater.go      up to where frames were acknowledged, outside of the store; its bytes, and the
//	                  lines of key files, are described in tools/manual/formats.md
//	retire.go         the log exported to segments and purged
//	bucket.go         snapshots in the object store of an external server
//	view.go           what a stream holds now, as an archive
//	placement.go      on which servers the streams are
//	store.go          the directory of a server: its lock, and its files without a server
//	copy.go           a server on a copy of a store, for programs that only read
//	check.go          whether a server that starts would cut the log
//	debug.go          GE_DEBUG
//	lease.go          who leads
//	feed.go           frames out; follower.go and in
//
// To add a subject: subjects.go names it, rights.go grants it, rights_test.go and
// identity_test.go show who is refused.
package bus
