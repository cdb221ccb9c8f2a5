// Package madeup makes input that no correct program sends: what a program of another
// version, one with a bug, or an attacker may send. Maker fills structs at random, Filler
// gives every field a value of its own, Changes changes one value of an encoded message at
// a time. Tests give the result to the cores.
//
// It must not know what is filled or changed. Only tests and tools/attack import it.
package madeup
