// Package gpu has the command `quill gpu`: what GPUs a host has, and the resource map with which a cell offers them to jobs.
//
//	pkg/gpu.Find ─▶ table, complex attributes and complex_values to paste
//	             └─ --apply ─▶ gdi.Add of the attributes that are missing, gdi.Modify of the host
//
// The package must not check maps: qmaster does.
//
// To add a characteristic: a line of characteristics.
package gpu
