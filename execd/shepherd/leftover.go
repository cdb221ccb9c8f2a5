package shepherd

// What an attempt leaves cannot always be removed when it is over: the file system is read-only, or not there. The
// shepherd journals the paths and tries again, and so does the next one.

// retryLater records what could not be removed.
func (k *shepherd) retryLater(paths []string) {
	k.mu.Lock()
	k.left = newestPaths(append(k.left, paths...))
	k.retry.scheduleSoon()
	k.mu.Unlock()
	k.journal.add(false, nil, journalRecord{Left: paths})
}

// retryRemovals tries again, one path after the other: an attempt that begins meanwhile takes its own out of what is
// left. One that does not come back keeps others from trying, and nothing else.
func (k *shepherd) retryRemovals() {
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
		if left, _ := removePaths([]string{path}); left != nil {
			k.mu.Lock()
			k.left = newestPaths(append(k.left, path))
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
