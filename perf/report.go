package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// header says what was measured and where, so that a figure can be judged later.
type header struct {
	Scenario string            `json:"scenario"`
	Ran      []string          `json:"ran"` // the arguments, without the paths of this machine
	Servers  map[string]string `json:"servers"`
	Commit   string            `json:"commit"`
	CPU      string            `json:"cpu"`
	Cores    int               `json:"cores"`
	Go       string            `json:"go"`
	System   string            `json:"system"`
	Date     string            `json:"date"`
	Load     string            `json:"load"` // the load average when it began: what else ran
	Note     string            `json:"note,omitempty"`
}

// row is one figure set of one server.
type row struct {
	Server  string             `json:"server"`
	Case    string             `json:"case"`
	Figures map[string]float64 `json:"figures"`
}

type report struct {
	out    io.Writer
	text   strings.Builder
	header header
	rows   []row
}

func newReport(out io.Writer, args []string, note string) *report {
	load, _ := os.ReadFile("/proc/loadavg")
	return &report{out: out, header: header{
		Scenario: args[0], Ran: withoutPaths(args), Commit: commit(), CPU: cpuModel(),
		Cores: runtime.NumCPU(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Date: time.Now().UTC().Format("2006-01-02 15:04 MST"), Note: note,
		Load: strings.Join(strings.Fields(string(load))[:min(3, len(strings.Fields(string(load))))], " "),
	}}
}

// printf prints a line and keeps it for the file.
func (r *report) printf(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	r.text.WriteString(line)
	_, _ = io.WriteString(r.out, line)
}

// add keeps figures for the file; nothing is printed.
func (r *report) add(s *server, what string, figures map[string]float64) {
	r.rows = append(r.rows, row{s.name, what, figures})
}

func (r *report) save(dir, name string, servers []*server) error {
	r.header.Servers = make(map[string]string)
	for _, s := range servers {
		r.header.Servers[s.name] = s.version
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	h := r.header
	var b strings.Builder
	fmt.Fprintf(&b, "# scenario  %s\n# ran       %s\n", h.Scenario, strings.Join(h.Ran, " "))
	for _, s := range servers {
		fmt.Fprintf(&b, "# server    %s: %s\n", s.name, s.version)
	}
	fmt.Fprintf(&b, "# commit    %s\n# cpu       %s, %d cores\n# go        %s %s\n# date      %s\n"+
		"# load      %s\n", h.Commit, h.CPU, h.Cores, h.Go, h.System, h.Date, h.Load)
	if h.Note != "" {
		fmt.Fprintf(&b, "# note      %s\n", h.Note)
	}
	b.WriteString("\n" + r.text.String())
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path+".txt", []byte(b.String()), 0o644); err != nil {
		return err
	}
	data, err := json.MarshalIndent(struct {
		Header header `json:"header"`
		Rows   []row  `json:"rows"`
	}{h, r.rows}, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path+".json", append(data, '\n'), 0o644)
}

// withoutPaths leaves only the last element of each path: the rest is about this machine.
func withoutPaths(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		words := strings.Split(a, " ")
		for j, w := range words {
			name, path, ok := strings.Cut(w, "=")
			if !ok || !strings.ContainsRune(path, filepath.Separator) {
				name, path, ok = "", w, false
			}
			if strings.ContainsRune(path, filepath.Separator) {
				path = filepath.Base(path)
			}
			if ok {
				path = name + "=" + path
			}
			words[j] = path
		}
		out[i] = strings.Join(words, " ")
		if strings.ContainsRune(out[i], ' ') {
			out[i] = "'" + out[i] + "'"
		}
	}
	return out
}

// commit is the short hash of the tree that perf runs in, with a mark if it was changed since.
func commit() string {
	hash, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	changes, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output()
	if err != nil || len(changes) > 0 {
		return strings.TrimSpace(string(hash)) + " and changes"
	}
	return strings.TrimSpace(string(hash))
}

func cpuModel() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return "unknown"
}

// ratio is a/b as text, or a dash where there is nothing to divide.
func ratio(a, b float64) string {
	if b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", a/b)
}

// median of values that are there; it sorts them.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	if len(v)%2 == 0 {
		return (v[len(v)/2-1] + v[len(v)/2]) / 2
	}
	return v[len(v)/2]
}

// quantile is the smallest value that at least the share q of them does not exceed. REQUIRES:
// sorted.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	i := int(q*float64(len(sorted))+0.999999999) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
