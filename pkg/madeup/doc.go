// Package madeup makes input that no correct program sends: what a program of another
// version, one with a bug, or an attacker may send. Maker fills structs at random, Filler
// gives every field a value of its own, Changes changes one value of an encoded message at
// a time. Tests give the result to the cores.
//
// It must not know what is filled or changed. Only tests and tools/attack import it.
//
// To add a kind of input: a method of Maker, Filler or Changes, and a test of the core
// that receives it.
package madeup
