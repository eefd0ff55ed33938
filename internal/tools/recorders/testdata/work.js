// Calls functions often enough that they are compiled.
function sieve(n) {
	const composite = new Uint8Array(n + 1);
	let count = 0;
	for (let i = 2; i <= n; i++) {
		if (composite[i]) continue;
		count++;
		for (let k = i * 2; k <= n; k += i) composite[k] = 1;
	}
	return count;
}

function collatz(limit) {
	let longest = 0;
	for (let i = 1; i < limit; i++) {
		let n = i, steps = 0;
		while (n !== 1) {
			n = n % 2 ? 3 * n + 1 : n / 2;
			steps++;
		}
		longest = Math.max(longest, steps);
	}
	return longest;
}

let sum = 0;
for (let i = 0; i < 30; i++) sum += sieve(200000) + collatz(8000);
console.log(sum);
