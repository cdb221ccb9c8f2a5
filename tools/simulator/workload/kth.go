package workload

import (
	"bytes"
	_ "embed"
)

//go:embed testdata/KTH-SP2-1996-2.swf.gz
var kth []byte

// KTHProcessors is how many the machine of KTH had.
const KTHProcessors = 100

// KTH is the log of the IBM SP2 of KTH, Stockholm, 1996-97, in which a
// scheduler is commonly tried (Lars Malinowsky, Parallel Workloads Archive).
func KTH() (SWF, error) { return ReadLog(bytes.NewReader(kth)) }
