package actors

import "kiln/commands"

// Journal, watchers, tracking and notifications listen through one interface, commands.Listener,
// which is called while the partitions concerned are held; durability satisfies it. Calls come
// from several goroutines at once: order is given for each key, and for one call's effects.

var wordDel = []byte("DEL")

// expired states the effects of a key that the sweeper deleted, in the order in which a call does.
func (r *Router) expired(db int, key []byte) {
	r.listener.Changed(db, key)
	r.listener.Event(commands.ClassExpired, "expired", db, key)
	r.listener.Journal([]commands.Effect{{DB: db, Args: [][]byte{wordDel, key}}})
}
