// Package keys keeps the list of the keys that a cell accepts over the network.
//
//	Issue     makes a pair of keys and registers the public half
//	Register  registers the public half of a pair that a user made
//	Own       makes that pair
//	List      who is registered
//	Revoke    takes keys back
//	Config    the same list as a configuration of an external NATS server
//
// The registered keys stand in DIR/keys/registered, one "PUBLICKEY ROLE NAME" a
// line; qmaster's server reads the file again when it changes. What a role may
// do is not said here but by bus.Permissions.
//
// The package must not know connections. To add an operation: a function that reads and
// writes the whole file, as Revoke does.
package keys
