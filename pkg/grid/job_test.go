package grid

import (
	"testing"
	"unsafe"
)

// A cell keeps a million pending jobs, each in a piece of memory of one of the sizes that Go's allocator has: 352
// bytes, and then 384.
func TestJobSize(t *testing.T) {
	if size := unsafe.Sizeof(Job{}); size > 352 {
		t.Errorf("a job takes %d bytes: order its fields, or have less of them", size)
	}
}
