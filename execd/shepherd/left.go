package shepherd

import "slices"

// What an attempt leaves cannot always be removed when it is over: the file system is read-only, or not there. The shepherd
// journals the paths and tries again, and so does the next one.

// What is left is tried again after leftFirst samples, a second each, then after twice as many, at most after leftLast.
const (
	leftFirst = 2
	leftLast  = 60
)

// retry counts the samples until what is left is tried again.
type retry struct{ rest, pause int }

// comeSoon has the next one come soon: something new is left.
func (r *retry) comeSoon() { r.rest, r.pause = leftFirst, leftFirst }

// countSample counts a sample, and reports whether it is time.
func (r *retry) countSample() bool {
	if r.rest--; r.rest > 0 {
		return false
	}
	r.pause = min(2*max(r.pause, leftFirst), leftLast)
	r.rest = r.pause
	return true
}

// leftMax bounds the paths that are tried again: jobs that leave what cannot be removed must not cost more and more.
const leftMax = 1000

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

func newest(paths []string) []string { return paths[max(0, len(paths)-leftMax):] }

// without leaves out the paths of an attempt that begins: they are its own now.
func without(paths, taken []string) []string {
	if len(paths) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return slices.Contains(taken, path) })
}
