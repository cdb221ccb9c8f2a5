package shepherd

// What an attempt leaves cannot always be removed when it is over: the file system is read-only, or not there. The shepherd
// journals the paths and tries again, and so does the next one.

// stays records what could not be removed.
func (k *shepherd) stays(paths []string) {
	k.mu.Lock()
	k.left = newest(append(k.left, paths...))
	k.retry.comeSoon()
	k.mu.Unlock()
	k.journal.add(false, nil, record{Left: paths})
}

// removeLeft tries again, one path after the other: an attempt that begins meanwhile takes its own out of what is left. One
// that does not come back keeps others from trying, and nothing else.
func (k *shepherd) removeLeft() {
	if !k.removing.TryLock() {
		return
	}
	defer k.removing.Unlock()
	k.mu.Lock()
	n := len(k.left)
	k.mu.Unlock()
	for range n {
		path, ok := k.oldestLeft()
		if !ok {
			return
		}
		if left, _ := remove([]string{path}); left != nil {
			k.mu.Lock()
			k.left = newest(append(k.left, path))
			k.mu.Unlock()
		}
	}
}

// oldestLeft takes a path out of what is left.
func (k *shepherd) oldestLeft() (path string, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.left) == 0 {
		return "", false
	}
	path, k.left = k.left[0], k.left[1:]
	return path, true
}
