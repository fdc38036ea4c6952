// Package commands is the command table and the handlers: one row and one handler for each
// command, in files named after Redis's groups.
//
// A handler reads its arguments, then its data, then replies; see [Call] for what it may use. It
// knows no goroutine, lock, clock, socket or actor, and never how many partitions there are.
//
// Start with command.go (what a row says), exec.go (what happens to a call), lookup.go (the only
// way to data) and strings.go (a family).
package commands

//go:generate go test -count 1 -run TestDocs . -update
