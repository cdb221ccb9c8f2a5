// Package divide configures each scheduling algorithm to divide a cluster among
// projects by their weights: what the simulator, the demo and what-if compare
// the algorithms with.
//
// It knows the algorithms by name and by the parameters that qconf -ssconf
// shows, not by their code. To add an algorithm: a row in the table. One without
// a row runs with its own defaults.
//
// The package must not know how an algorithm applies a weight.
package divide
