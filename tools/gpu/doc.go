// Package gpu has the command `quill gpu`: what GPUs a host has, and the resource map with which a cell offers them to
// jobs.
//
//	pkg/gpu.Find ─▶ table, complex attributes and complex_values to paste
//	             └─ --apply, compared with the host's present map ─▶ gdi.Change with the attributes that are missing, gdi.Modify of the host
//
// The package must not decide what a map may contain: pkg/complex does, before anything is changed and in qmaster.
//
// To add a characteristic: a line of characteristics.
package gpu
