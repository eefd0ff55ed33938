# A loop with an idiom that takes no time, and one that waits for a division.
# LLVM-MCA-BEGIN 0
xorl %eax, %eax
movslq (%rdi,%rcx,4), %rdx
imulq %rdx, %rdx
addq %rdx, %rsi
incq %rcx
cmpq %rcx, %r8
jne .Lx0x1190
# LLVM-MCA-END 0
# LLVM-MCA-BEGIN 1
divsd %xmm0, %xmm1
divsd %xmm0, %xmm1
# LLVM-MCA-END 1
