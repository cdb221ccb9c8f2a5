package bus_test

import _ "github.com/quill-grid/quill/pkg/bus/embedded" // the engine of all tests here
