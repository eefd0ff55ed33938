# LLVM-MCA-BEGIN 0
add x0, x0, #1
  frobnicate x1, x2
# LLVM-MCA-END 0
# LLVM-MCA-BEGIN 1
add x0, x0, [x1
# LLVM-MCA-END 1
