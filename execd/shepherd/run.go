package shepherd

import "errors"

// Run is the keeper process: quill shepherd DIR. It returns after Shutdown, or at once with an error when another
// keeper holds DIR. Before it serves, it tells its parent so by closing standard output.
func Run(dir string) error { return errors.New("not yet") }
