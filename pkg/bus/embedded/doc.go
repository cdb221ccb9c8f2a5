// Package embedded is the NATS server of a cell, inside the process of qmaster: the engine of bus.Server.
//
//	bus.Start ─▶ engine ─▶ nats-server: store, subjects, permissions
//
// Importing it registers it with pkg/bus. Only programs that run a server or read a copy of a store import it: clients,
// libdrmaa among them, do not link nats-server.
//
// It knows the options of nats-server. It must not know identities, rights or messages: pkg/bus authenticates a
// connection's ticket and says what the identity may publish and read.
//
// blocks.go reads the server's files without a server, for bus.CheckLog. It follows the format of the version in
// go.mod. TestCheckLog of pkg/bus has a server write them, so that another version that writes something else is found.
//
// To change how the server runs: natsOptions. What a Server needs of it: bus.Engine and bus.EngineOptions.
package embedded
