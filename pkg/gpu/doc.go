// Package gpu finds the GPUs of a host in the files of the kernel and its drivers.
//
//	/proc/driver/nvidia  ─┐
//	/sys/class/kfd       ─┼─▶ Find ─▶ GPU: address, model, UUID, memory, NUMA node, device files
//	/sys/class/drm, pci  ─┘
//
// It reads any tree of files, also one recorded on another machine. The package must not load a vendor's library, run a
// program, or know cells: what becomes of a GPU there is up to tools/gpu.
//
// To add a vendor: a method of finder, called in Find, and a recorded tree in testdata.
package gpu
