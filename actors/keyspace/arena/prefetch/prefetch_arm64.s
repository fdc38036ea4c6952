#include "textflag.h"

// func Lines(addrs *uint64, n int)
TEXT ·Lines(SB), NOSPLIT, $0-16
	MOVD addrs+0(FP), R0
	MOVD n+8(FP), R1
	CMP  $0, R1
	BLE  done
loop:
	MOVD.P 8(R0), R2
	PRFM (R2), PLDL1KEEP
	SUBS $1, R1, R1
	BNE  loop
done:
	RET

// func Spans(addrs *uint64, n, lines int)
TEXT ·Spans(SB), NOSPLIT, $0-24
	MOVD addrs+0(FP), R0
	MOVD n+8(FP), R1
	MOVD lines+16(FP), R3
	CMP  $0, R1
	BLE  done
next:
	MOVD.P 8(R0), R2
	MOVD R3, R4
line:
	PRFM (R2), PLDL1KEEP
	ADD  $64, R2, R2
	SUBS $1, R4, R4
	BGT  line
	SUBS $1, R1, R1
	BNE  next
done:
	RET

// func ForWrite(word *atomic.Uint32)
TEXT ·ForWrite(SB), NOSPLIT, $0-8
	MOVD word+0(FP), R0
	PRFM (R0), PSTL1KEEP
	RET
