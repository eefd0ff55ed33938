def sieve(n):
    composite = bytearray(n + 1)
    count = 0
    for i in range(2, n + 1):
        if composite[i]:
            continue
        count += 1
        for k in range(2 * i, n + 1, i):
            composite[k] = 1
    return count


def collatz(limit):
    longest = 0
    for i in range(1, limit):
        n, steps = i, 0
        while n != 1:
            n = 3 * n + 1 if n % 2 else n // 2
            steps += 1
        longest = max(longest, steps)
    return longest


print(sum(sieve(30000) + collatz(700) for i in range(12)))
