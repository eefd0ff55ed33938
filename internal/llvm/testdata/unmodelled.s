# LLVM-MCA-BEGIN 0
add x0, x0, #1
# LLVM-MCA-END 0
# LLVM-MCA-BEGIN 1
ldadd x0, x1, [x2]
# LLVM-MCA-END 1
# LLVM-MCA-BEGIN 2
ldaddal w1, w1, [x2]
# LLVM-MCA-END 2
