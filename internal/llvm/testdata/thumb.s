# An IT block: its conditional instructions cannot stand alone.
ldr r3, [r0, r1, lsl #2]
cmp r3, #4
ite ge
addge r2, r2, r3
eorlt r2, r2, r1
adds r1, #1
bne .Lx0x40
