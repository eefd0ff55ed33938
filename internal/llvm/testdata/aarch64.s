# A loop with a load, a division, a call and a return, and one with nothing to wait for.
# LLVM-MCA-BEGIN 0
ldr w3, [x6, x1, lsl #2]
sdiv w4, w3, w7
add x1, x1, #1
add w0, w0, w4
cmp x5, x1
b.ne .Lx0x390
# LLVM-MCA-END 0
# LLVM-MCA-BEGIN 1
bl .Lx0x40
ret
# LLVM-MCA-END 1
