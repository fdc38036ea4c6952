package commands

import (
	"bytes"
	"cmp"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"kiln/actors/keyspace"
)

// info is INFO's text as it grows, and what several sections ask for.
type info struct {
	*Call
	text     []byte
	counters keyspace.Counters // of all partitions
}

// infoSections are INFO's sections in the order in which they are printed, whatever the order
// asked for: conformance server/info.
var infoSections = []struct {
	title string
	write func(*info) error
}{
	{"Server", (*info).server},
	{"Clients", (*info).clients},
	{"Memory", (*info).memory},
	{"Persistence", (*info).persistence},
	{"Stats", (*info).stats},
	{"Replication", (*info).replication},
	{"CPU", (*info).cpu},
	{"Modules", (*info).modules},
	{"Errorstats", (*info).errors},
	{"Cluster", (*info).cluster},
	{"Keyspace", (*info).keyspace},
}

// cmdInfo shows what is known. What this server has not yet is left out, or 0 where that is true.
func cmdInfo(c *Call) error {
	wanted := map[string]bool{}
	all := c.Args.Left() == 0
	for _, w := range c.Args.Rest() {
		name := string(bytes.ToLower(w))
		all = all || name == "default" || name == "all" || name == "everything"
		wanted[name] = true
	}
	i := &info{Call: c}
	for _, section := range infoSections {
		if !all && !wanted[strings.ToLower(section.title)] {
			continue
		}
		if len(i.text) > 0 {
			i.text = append(i.text, "\r\n"...)
		}
		i.text = append(append(append(i.text, "# "...), section.title...), "\r\n"...)
		if err := section.write(i); err != nil {
			return err
		}
	}

	c.Reply.Verbatim("txt", string(i.text))
	return nil
}

// field writes a line.
func (i *info) field(name string, value any) {
	i.text = fmt.Appendf(i.text, "%s:%v\r\n", name, value)
}

// bytes writes a number of bytes, and in a second line how people read it.
func (i *info) bytes(name string, n int64) {
	i.field(name, n)
	i.field(name+"_human", human(n))
}

// human prints bytes in the largest unit of which there is at least one.
func human(n int64) string {
	if n < 1<<10 {
		return strconv.FormatInt(n, 10) + "B"
	}
	v, unit := float64(n)/(1<<10), 0
	for ; v >= 1<<10 && unit < len("KMGTP")-1; unit++ {
		v /= 1 << 10
	}
	return strconv.FormatFloat(v, 'f', 2, 64) + "KMGTP"[unit:unit+1]
}

func (i *info) server() error {
	s, p := i.Server, i.Server.Process
	system, _ := p.Host()
	up := max(i.Now-s.Started, 0) / 1e9
	i.field("redis_version", RedisVersion)
	i.field("server_name", "kiln")
	i.field("kiln_version", KilnVersion)
	i.field("redis_mode", "standalone")
	i.field("os", cmp.Or(system, runtime.GOOS+" "+runtime.GOARCH))
	i.field("arch_bits", strconv.IntSize)
	i.field("go_version", runtime.Version())
	i.field("process_id", p.PID())
	i.field("process_supervised", "no")
	i.field("run_id", s.RunID)
	i.field("tcp_port", s.Config.Port)
	i.field("server_time_usec", i.Now/1e3)
	i.field("uptime_in_seconds", up)
	i.field("uptime_in_days", up/(24*60*60))
	i.field("hz", s.Config.Hz.Load())
	i.field("configured_hz", s.Config.Hz.Load())
	i.field("lru_clock", lruClock(i.Now))
	i.field("executable", p.Executable())
	i.field("config_file", p.ConfigFile())
	i.field("io_threads_active", flag(s.Loops > 1))
	i.field("kiln_event_loops", s.Loops)
	i.field("kiln_partitions", i.Shards.Count())
	i.listeners()
	return nil
}

func (i *info) listeners() {
	c, n := i.Server.Config, 0
	if c.Port != 0 && len(c.Bind) > 0 {
		i.field("listener0", fmt.Sprintf("name=tcp,bind=%s,port=%d",
			strings.Join(c.Bind, ",bind="), c.Port))
		n++
	}
	if c.UnixSocket != "" {
		i.field("listener"+strconv.Itoa(n), "name=unix,bind="+c.UnixSocket)
	}
}

func flag(v bool) int {
	if v {
		return 1
	}
	return 0
}

func (i *info) clients() error {
	var query, pending int64
	i.Server.Clients.Each(func(s *Session) bool {
		query, pending = max(query, s.Query.Load()), max(pending, s.Pending.Load())
		return true
	})
	i.field("connected_clients", i.Server.Clients.Count())
	i.field("cluster_connections", 0)
	i.field("maxclients", i.Server.Config.MaxClients.Load())
	i.field("client_recent_max_input_buffer", query)
	i.field("client_recent_max_output_buffer", pending)
	i.field("blocked_clients", i.Server.Clients.Blocked())
	i.field("tracking_clients", 0)
	i.field("pubsub_clients", 0)
	i.field("watching_clients", 0)
	return nil
}

func (i *info) memory() error {
	s, p := i.Server, i.Server.Process
	used, data := s.usedMemory()
	_, lent, mapped := p.Arena()
	resident, peak := p.Resident(), s.Stats.PeakMemory.Load()
	_, total := p.Host()
	buffers := int64(0)
	s.Clients.Each(func(s *Session) bool {
		buffers += s.Query.Load() + s.Pending.Load()
		return true
	})
	i.bytes("used_memory", used)
	i.bytes("used_memory_rss", resident)
	i.bytes("used_memory_peak", peak)
	i.field("used_memory_peak_perc", fmt.Sprintf("%.2f%%", percent(used, peak)))
	i.field("used_memory_overhead", used-data)
	i.field("used_memory_dataset", data)
	i.field("used_memory_dataset_perc", fmt.Sprintf("%.2f%%", percent(data, used)))
	i.bytes("total_system_memory", total)
	i.bytes("used_memory_lua", 0)
	i.bytes("used_memory_scripts", 0)
	i.field("number_of_cached_scripts", 0)
	i.field("number_of_functions", 0)
	i.field("number_of_libraries", 0)
	i.bytes("maxmemory", s.Config.MaxMemory.Load())
	i.field("maxmemory_policy", s.Config.Value("maxmemory-policy"))
	i.field("mem_fragmentation_ratio", fmt.Sprintf("%.2f", percent(resident, used)/100))
	i.field("mem_fragmentation_bytes", resident-used)
	i.field("mem_not_counted_for_evict", 0)
	i.field("mem_replication_backlog", 0)
	i.field("mem_clients_slaves", 0)
	i.field("mem_clients_normal", buffers)
	i.field("mem_aof_buffer", 0)
	i.field("mem_allocator", "kiln-arena")
	i.field("kiln_arena_used", data)
	i.field("kiln_arena_lent", lent)
	i.field("kiln_arena_mapped", mapped)
	i.field("kiln_go_heap", used-data)
	i.field("active_defrag_running", 0)
	return nil
}

// percent is 0 where there is nothing to compare with.
func percent(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// persistence says that nothing is being saved, which is so. Like Redis, it gives the start as
// the time of the last save while there was none.
func (i *info) persistence() error {
	i.field("loading", 0)
	i.field("async_loading", 0)
	i.field("rdb_bgsave_in_progress", 0)
	i.field("rdb_last_save_time", i.Server.Started/1e9)
	i.field("rdb_last_bgsave_status", "ok")
	i.field("rdb_last_bgsave_time_sec", -1)
	i.field("rdb_current_bgsave_time_sec", -1)
	i.field("rdb_saves", 0)
	i.field("rdb_last_load_keys_expired", 0)
	i.field("rdb_last_load_keys_loaded", 0)
	i.field("aof_enabled", 0)
	i.field("aof_rewrite_in_progress", 0)
	i.field("aof_rewrite_scheduled", 0)
	i.field("aof_last_rewrite_time_sec", -1)
	i.field("aof_current_rewrite_time_sec", -1)
	i.field("aof_last_bgrewrite_status", "ok")
	i.field("aof_rewrites", 0)
	i.field("aof_last_write_status", "ok")
	return nil
}

func (i *info) stats() error {
	if err := i.count(); err != nil {
		return err
	}
	s := &i.Server.Stats
	i.field("total_connections_received", s.Connections.Load())
	i.field("total_commands_processed", s.Commands.Load())
	i.field("instantaneous_ops_per_sec", s.rates.commands.Load())
	i.field("total_net_input_bytes", s.BytesIn.Load())
	i.field("total_net_output_bytes", s.BytesOut.Load())
	i.field("total_net_repl_input_bytes", 0)
	i.field("total_net_repl_output_bytes", 0)
	i.field("instantaneous_input_kbps", kilo(s.rates.bytesIn.Load()))
	i.field("instantaneous_output_kbps", kilo(s.rates.bytesOut.Load()))
	i.field("rejected_connections", s.Rejected.Load())
	i.field("sync_full", 0)
	i.field("sync_partial_ok", 0)
	i.field("sync_partial_err", 0)
	i.field("expired_subkeys", 0)
	i.field("expired_keys", i.counters.Expired)
	i.field("evicted_keys", 0)
	i.field("evicted_clients", 0)
	i.field("keyspace_hits", i.counters.Hits)
	i.field("keyspace_misses", i.counters.Misses)
	i.field("pubsub_channels", 0)
	i.field("pubsub_patterns", 0)
	i.field("pubsubshard_channels", 0)
	i.field("latest_fork_usec", 0)
	i.field("total_forks", 0)
	i.field("unexpected_error_replies", 0)
	i.field("total_error_replies", s.Errors.Load())
	i.field("acl_access_denied_auth", 0)
	i.field("kiln_internal_errors", s.Panics.Load())
	i.field("kiln_roamers_interleaved", s.RoamersInterleaved.Load())
	return nil
}

func kilo(n int64) string { return fmt.Sprintf("%.2f", float64(n)/1024) }

// count sums the partitions' counters, which all of a partition's databases share. It enters the
// partitions, since only their runners may look.
func (i *info) count() error {
	for p := range i.Shards.Count() {
		s, err := i.Shards.Enter(p, 0)
		if err != nil {
			return err
		}
		i.counters.Hits += s.Counters.Hits
		i.counters.Misses += s.Counters.Misses
		i.counters.Expired += s.Counters.Expired
		i.Shards.Leave()
	}
	return nil
}

// replication says that there is none. The process stands for the history of the data, since it
// begins and ends with it so far.
func (i *info) replication() error {
	i.field("role", "master")
	i.field("connected_slaves", 0)
	i.field("master_failover_state", "no-failover")
	i.field("master_replid", i.Server.RunID)
	i.field("master_replid2", strings.Repeat("0", 40))
	i.field("master_repl_offset", 0)
	i.field("second_repl_offset", -1)
	i.field("repl_backlog_active", 0)
	i.field("repl_backlog_size", 0)
	i.field("repl_backlog_first_byte_offset", 0)
	i.field("repl_backlog_histlen", 0)
	return nil
}

func (i *info) cpu() error {
	system, user := i.Server.Process.CPU()
	i.field("used_cpu_sys", fmt.Sprintf("%.6f", system))
	i.field("used_cpu_user", fmt.Sprintf("%.6f", user))
	i.field("used_cpu_sys_children", "0.000000")
	i.field("used_cpu_user_children", "0.000000")
	return nil
}

func (i *info) modules() error { return nil }

func (i *info) errors() error {
	prefixes, count := i.Server.Stats.errorsByPrefix()
	for _, p := range prefixes {
		i.field("errorstat_"+safe.Replace(p), fmt.Sprintf("count=%d", count(p)))
	}
	return nil
}

// safe keeps a name that a script made up from breaking a line, as Redis does.
var safe = strings.NewReplacer("#", "_", ":", "_", "\n", "_", "\r", "_")

func (i *info) cluster() error {
	i.field("cluster_enabled", 0)
	return nil
}

// keyspace has a line for each database with keys, those expired but not yet removed included.
func (i *info) keyspace() error {
	for db := range i.Server.Config.Databases {
		keys, timed := 0, 0
		for p := range i.Shards.Count() {
			s := i.Shards.Peek(p, db)
			keys += s.Len()
			timed += s.Timed()
		}
		if keys == 0 {
			continue
		}
		ttl := int64(0)
		if timed > 0 {
			var err error
			if ttl, err = i.meanTTL(db); err != nil {
				return err
			}
		}
		i.field("db"+strconv.Itoa(db),
			fmt.Sprintf("keys=%d,expires=%d,avg_ttl=%d,subexpiry=0", keys, timed, ttl))
	}
	return nil
}

// meanTTL is the mean of what is left to the keys with a deadline, in milliseconds: of some keys
// of each partition, as in Redis. Where few keys have a deadline it may see none; then it is 0.
func (i *info) meanTTL(db int) (int64, error) {
	const (
		enough = 16   // deadlines of a partition
		most   = 1024 // keys of a partition to look for them, about 50 us
		slice  = 128
	)
	sum, n := 0.0, 0
	for p := range i.Shards.Count() {
		if i.Shards.Peek(p, db).Timed() == 0 {
			continue
		}
		s, err := i.Shards.Enter(p, db)
		if err != nil {
			return 0, err
		}
		found, cursor := 0, uint64(0)
		for seen := 0; seen < most && found < enough; seen += slice {
			cursor = s.Scan(cursor, slice, func(e keyspace.Entry) {
				if d := e.Deadline(); d != 0 {
					found++
					sum += max(float64(d.Milli())-float64(i.Now/1e6), 0)
				}
			})
			if cursor == 0 {
				break
			}
		}
		n += found
		i.Shards.Leave()
	}
	if n == 0 {
		return 0, nil
	}
	return int64(sum / float64(n)), nil
}
