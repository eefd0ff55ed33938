public class Work {
	static int sieve(int n) {
		boolean[] composite = new boolean[n + 1];
		int count = 0;
		for (int i = 2; i <= n; i++) {
			if (composite[i])
				continue;
			count++;
			for (int k = i * 2; k <= n; k += i)
				composite[k] = true;
		}
		return count;
	}

	static int collatz(int limit) {
		int longest = 0;
		for (int i = 1; i < limit; i++) {
			long n = i;
			int steps = 0;
			for (; n != 1; steps++)
				n = n % 2 == 1 ? 3 * n + 1 : n / 2;
			longest = Math.max(longest, steps);
		}
		return longest;
	}

	public static void main(String[] args) {
		int sum = 0;
		for (int i = 0; i < 60; i++)
			sum += sieve(200000) + collatz(20000);
		System.out.println(sum);
	}
}
