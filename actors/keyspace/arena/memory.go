package arena

import "unsafe"

// Addr is the address of a block: a multiple of 8 below 2^47, or 0 for none.
type Addr uint64

func pointer(p Addr) unsafe.Pointer { return unsafe.Add(nil, uintptr(p)) }

// Load reads the 64-bit word at p.
func Load(p Addr) uint64 { return *(*uint64)(pointer(p)) }

// Store writes the 64-bit word at p.
func Store(p Addr, v uint64) { *(*uint64)(pointer(p)) = v }

// Load32 reads the 32-bit word at p.
func Load32(p Addr) uint32 { return *(*uint32)(pointer(p)) }

// Store32 writes the 32-bit word at p.
func Store32(p Addr, v uint32) { *(*uint32)(pointer(p)) = v }

// Bytes gives the n bytes at p. They are the arena's: valid until the block is freed.
func Bytes(p Addr, n int) []byte { return unsafe.Slice((*byte)(pointer(p)), n) }

// Move copies n bytes from one block to another; they may overlap.
func Move(to, from Addr, n int) { copy(Bytes(to, n), Bytes(from, n)) }

// Zero clears the n bytes at p.
func Zero(p Addr, n int) { clear(Bytes(p, n)) }

// AddrOf gives the address of the first of the given bytes, to prefetch it; 0 for none.
func AddrOf(b []byte) Addr { return Addr(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
