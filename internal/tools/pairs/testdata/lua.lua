-- Objects, strings, closures and numbers: the same work for Lua 5.3 and 5.4.
local function tree(depth)
  if depth == 0 then return {} end
  return { tree(depth - 1), tree(depth - 1) }
end
local function count(t)
  if not t[1] then return 1 end
  return 1 + count(t[1]) + count(t[2])
end
local nodes = 0
for _ = 1, 30 do nodes = nodes + count(tree(13)) end
local words = {}
for i = 1, 60000 do words[i] = string.format("%05d", (i * 7919) % 60000) end
table.sort(words)
local text = table.concat(words, " ")
local hits = 0
for a, b in text:gmatch("(%d)(%d+)") do
  if (tonumber(b) + tonumber(a)) % 3 == 0 then hits = hits + 1 end
end
local sum = 0.0
for i = 1, 6000000 do sum = sum + (i % 7) * 0.5 end
local sieve, primes = {}, 0
for i = 2, 600000 do
  if not sieve[i] then
    primes = primes + 1
    for k = i * i, 600000, i do sieve[k] = true end
  end
end
print(nodes, hits, sum, primes)
