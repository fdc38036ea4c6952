package arena

func mapChunk() Addr { return mapAligned(chunkBytes, chunkBytes) }

func mapAlone(size int) Addr { return mapAligned(size, hugePage) }

func unmapAlone(p Addr, size int) { unmap(p, size) }
