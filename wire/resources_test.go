package wire

import (
	"net"
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOutOfDescriptors: a server that cannot accept for want of descriptors goes on serving its
// clients, does not spin, and accepts again when it can.
func TestOutOfDescriptors(t *testing.T) {
	server := spawn(t, 1, childEnv+"_FILES=60")
	var peers []*peer
	for range 60 { // more than it can take: the rest waits in the kernel's queue
		peers = append(peers, dial(t, server.addr))
	}
	served := 0
	for ; served < len(peers); served++ {
		p := peers[served]
		p.send(line("PING"))
		_ = p.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
		if v, err := p.r.Read(); err != nil {
			break
		} else if v.String() != "+PONG" {
			t.Fatal(v)
		}
		_ = p.SetReadDeadline(time.Now().Add(patience))
	}
	if served < 10 || served == len(peers) {
		t.Fatalf("%d of %d connections are served", served, len(peers))
	}
	const span = time.Second
	used, timer := server.cpu(t), time.NewTimer(span)
	for running := true; running; {
		select {
		case <-timer.C:
			running = false
		default:
			peers[0].want("+PONG", "PING")
			<-time.After(50 * time.Millisecond)
		}
	}
	if used = server.cpu(t) - used; used > span/5 {
		t.Errorf("out of descriptors, it uses %v of the processor in %v", used, span)
	}
	for _, p := range peers[:served] {
		_ = p.Close()
	}
	for _, p := range peers[served:] { // the ones that waited
		_ = p.SetReadDeadline(time.Now().Add(patience))
		p.t.Helper()
		if p != peers[served] { // that one has asked already
			p.send(line("PING"))
		}
	}
	last := peers[len(peers)-1]
	if got := last.read().String(); got != "+PONG" {
		t.Error(got)
	}
}

// TestIdleServerUsesNoProcessor reads what the kernel counts of a server with idle clients.
func TestIdleServerUsesNoProcessor(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, loops := range []int{1, 3} {
		server := spawn(t, loops)
		for range 20 {
			dial(t, server.addr).want("+PONG", "PING")
		}
		const span = 3 * time.Second
		used := server.cpu(t)
		<-time.After(span)
		used = server.cpu(t) - used
		t.Logf("%d loops: %.2f %% of a processor", loops, 100*used.Seconds()/span.Seconds())
		if used > span/50 { // 1 % and what a clock of 100 ticks a second may be off
			t.Errorf("%d loops: an idle server uses %v of the processor in %v", loops, used, span)
		}
	}
}

// TestIdleConnectionsAreCheap opens as many connections as there may be and sees what they cost.
func TestIdleConnectionsAreCheap(t *testing.T) {
	connections := 10_000
	var limit syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	if limit.Cur < limit.Max {
		limit.Cur = limit.Max
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	}
	if testing.Short() {
		connections = 1000
	}
	connections = min(connections, int(limit.Cur)-100)
	server := spawn(t, 1, childEnv+"_SET=maxclients 20000")
	p := dial(t, server.addr)
	field := func(info, name string) int {
		_, text, _ := strings.Cut(info, name+":")
		text, _, _ = strings.Cut(text, "\r")
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return n
	}
	memory := func() (resident, heap int) {
		for range 3 { // the collector frees in steps
			p.do("INFO", "memory")
		}
		info := string(p.do("INFO", "memory").Text)
		return field(info, "used_memory_rss"), field(info, "kiln_go_heap")
	}
	open := func() (conns []net.Conn) {
		for range connections {
			conn, err := net.Dial("tcp", server.addr)
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, conn)
			_ = conn.SetDeadline(time.Now().Add(patience))
			if _, err := conn.Write([]byte("PING\r\n")); err != nil {
				t.Fatal(err)
			}
			var pong [7]byte
			if _, err := conn.Read(pong[:]); err != nil || string(pong[:]) != "+PONG\r\n" {
				t.Fatalf("connection %d: %q, %v", len(conns), pong, err)
			}
		}
		return conns
	}
	residentBefore, heapBefore := memory()
	conns := open()
	resident, heap := memory()
	each := (heap - heapBefore) / connections
	t.Logf("%d connections: %d bytes of heap each, %d bytes resident each; a client is %d bytes",
		connections, each, (resident-residentBefore)/connections, reflect.TypeFor[client]().Size())
	if each > 2048 {
		t.Errorf("an idle connection costs %d bytes", each)
	}
	for range 100 {
		p.want("+PONG", "PING")
	}
	for _, conn := range conns {
		_ = conn.Close()
	}
	await(t, "all to be gone", func() bool {
		return field(string(p.do("INFO", "clients").Text), "connected_clients") == 1
	})
	if _, after := memory(); after > heapBefore+connections*64+1<<20 {
		t.Errorf("the heap is %d bytes after they have gone, it was %d", after, heapBefore)
	}
	if _, err := os.Stat("/proc/self/fd"); err == nil {
		await(t, "the server's descriptors to be closed", func() bool {
			names, _ := os.ReadDir("/proc/" + strconv.Itoa(server.cmd.Process.Pid) + "/fd")
			return len(names) < 30
		})
	}
}
