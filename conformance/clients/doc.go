// Package clients lets real clients do a session of real work: redis-cli, the two benchmark
// programs, go-redis, ioredis, node-redis, and a load of our own that checks each reply. A
// transcript says what a server answers; these say that nobody stumbles over it.
//
// It is tests only, and a black box like its parent: it meets Kiln over a socket. By default it
// builds cmd/kiln and starts a fresh server for each test. What else it looks at:
//
//	KILN_ADDR     host:port of a running server to test instead (it is flushed!)
//	KILN_SERVER   a server program to start instead, such as a real redis-server
//	KILN_PEERS    the folder with redis-cli, redis-benchmark, valkey-benchmark
//	KILN_CLIENTS  1: a tool that is missing is a failure, and npm may fetch the Node clients
//	KILN_WITHOUT  names of tools that this machine has not, and that may be missing after all
//
// Without KILN_CLIENTS a test whose tool is missing is skipped, and says so.
//
// Start reading in clients_test.go.
package clients
