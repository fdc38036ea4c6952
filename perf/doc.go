// Command perf compares servers that speak RESP, side by side in one run.
//
//	go run ./perf SCENARIO [flags] NAME='command with {port}' ...
//
// Each command starts a server in the foreground; {port} in it becomes a free port of the
// loopback address. The scenarios take turns between the servers, since two shared cores lie and
// ratios within one run lie less; the first server is the one the ratios are for. What they find
// is printed, and kept in perf/results/SCENARIO.txt and .json under a header that says what ran.
//
//	stall        does another client's KEYS, MGET or FLUSHDB move the latency of GETs?
//	memory       resident memory for each key, and the longest reply time while filling
//	idle         what a server costs that nobody talks to
//	connections  what a connection costs that says nothing
//	commands     server CPU for each command of a mix
//
// It is no benchmark of the client's side: the generator shares the machine with the server, so
// it is written to be cheap, and what is compared is what the server uses. Micro-benchmarks sit
// beside the code they measure; compare.sh sets two commits of them against each other.
//
// Start reading in main.go; each scenario has a file of its own.
package main
