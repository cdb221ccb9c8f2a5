package core

import "reflect"

// checkSettings holds the law that settings say what the configuration says now.
func (h *harness) checkSettings() {
	are, read := *h.core.settings(), *h.core.newSettings()
	for host, s := range are.hosts {
		fresh := h.core.newHostSettings(host)
		for q := range s.queues {
			fresh.queues[q] = h.core.resolved(h.core.state.CQueue(q), host)
		}
		read.hosts[host] = fresh
	}
	are.admit, read.admit = nil, nil
	if !reflect.DeepEqual(are, read) {
		h.t.Fatalf("the settings are of an older configuration:\n%+v\nnot\n%+v", are, read)
	}
}
