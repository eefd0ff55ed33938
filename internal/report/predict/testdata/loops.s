# app.data
# llvm-mca -mtriple=x86_64 -mcpu=CPU FILE simulates each way: no branch is mispredicted, all data is in the L1 cache

# f, loop 1 at 0x10
# 50.00% of the samples (1,234), with those in the functions without loops that it calls
# frequencies of branches: simulated
# 75.00% of the units
# LLVM-MCA-BEGIN f, loop 1 at 0x10, way 1
addl $1, %eax                            # 0x10, 25.00% of samples
movq $0, -8(%rsp)                        # 0x13, for call g⟨U+001B⟩
# ud2: 0x18
# LLVM-MCA-END

# g
# frequencies of branches: assumed
# flag: the loop has several entries
# LLVM-MCA-BEGIN g?, way 1
add x0, x0, #1                           // line 3
# LLVM-MCA-END
