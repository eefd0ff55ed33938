// Switches that compilers turn into jump tables.
#define CALL(n) __asm__ volatile("" ::"r"(n))

int dense(int x, int y) {
	switch (x) {
	case 0: CALL(1); break;
	case 1: CALL(2); y *= 3; break;
	case 2: CALL(3); y ^= 9; break;
	case 3: CALL(4); y -= 77; break;
	case 4: CALL(5); y <<= 3; break;
	case 5: CALL(6); y /= 3; break;
	case 6: CALL(7); y = ~y; break;
	case 7: CALL(8); y |= 1024; break;
	}
	return y;
}

int offset(int x, int y) {
	switch (x - 1000) {
	case 0: CALL(1); return y;
	case 1: CALL(2); return y * 3;
	case 3: CALL(3); return y ^ 9;
	case 4: CALL(4); return y - 77;
	case 5: CALL(5); return y << 3;
	case 6: CALL(6); return y / 3;
	case 8: CALL(7); return ~y;
	case 9: CALL(8); return y | 1024;
	}
	return -1;
}

int looped(int n, const unsigned char *p) {
	int s = 0;
	for (int i = 0; i < n; i++) {
		switch (p[i]) {
		case 1: CALL(1); s += 3; break;
		case 2: CALL(2); s *= 7; break;
		case 3: CALL(3); s ^= n; break;
		case 4: CALL(4); s -= i; break;
		case 5: CALL(5); s <<= 2; break;
		case 6: CALL(6); s |= 65536; break;
		case 9: CALL(7); s >>= 1; break;
		}
	}
	return s;
}

int nested(unsigned x, unsigned y, int z) {
	switch (x) {
	case 0: CALL(1); return z;
	case 1: CALL(2); return z * 3;
	case 2: CALL(3); return z ^ 9;
	case 3: CALL(4); return z - 77;
	case 4: CALL(5); return z << 3;
	case 5: CALL(6); return z / 3;
	case 6:
		switch (y) {
		case 0: CALL(7); return z + 1;
		case 1: CALL(8); return z * 5;
		case 2: CALL(9); return z ^ 99;
		case 3: CALL(10); return z - 777;
		case 4: CALL(11); return z << 4;
		case 5: CALL(12); return z / 5;
		case 6: CALL(13); return ~z;
		}
	}
	return -1;
}
