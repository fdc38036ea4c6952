#include "textflag.h"

// func Lines(addrs *uint64, n int)
TEXT ·Lines(SB), NOSPLIT, $0-16
	MOVQ addrs+0(FP), AX
	MOVQ n+8(FP), CX
	TESTQ CX, CX
	JLE  done
loop:
	MOVQ (AX), DX
	PREFETCHT0 (DX)
	ADDQ $8, AX
	DECQ CX
	JNZ  loop
done:
	RET

// func Spans(addrs *uint64, n, lines int)
TEXT ·Spans(SB), NOSPLIT, $0-24
	MOVQ addrs+0(FP), AX
	MOVQ n+8(FP), CX
	MOVQ lines+16(FP), BX
	TESTQ CX, CX
	JLE  done
next:
	MOVQ (AX), DX
	MOVQ BX, SI
line:
	PREFETCHT0 (DX)
	ADDQ $64, DX
	DECQ SI
	JG   line
	ADDQ $8, AX
	DECQ CX
	JNZ  next
done:
	RET

// func ForWrite(word *atomic.Uint32)
TEXT ·ForWrite(SB), NOSPLIT, $0-8
	MOVQ word+0(FP), AX
	BYTE $0x0F; BYTE $0x0D; BYTE $0x08 // PREFETCHW (AX), which the assembler has not
	RET
