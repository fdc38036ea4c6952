// Package wire has the sockets and the clients: it turns bytes into batches of commands, runs them
// through package actors, and writes replies, in order.
//
// A [Server] has event loops, on epoll or kqueue. Each loop owns its clients and one actors.Loop,
// and is one goroutine: nothing of a client needs a lock. What runs elsewhere comes back to a
// client by a task on its loop.
//
// A client is parked while a command of its runs elsewhere: its further bytes are kept undecoded,
// so its commands take effect in the order sent. What the socket of a client that does not read did
// not take is its backlog; while that is long its commands wait.
//
// Start with client.go, the life of a client's bytes.
package wire
