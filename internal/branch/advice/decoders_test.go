package advice

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/objects/objectstest"
)

// Loops as decoders, sorts, searches and parsers have them: what decides their branches comes
// from the iteration before, or what they write depends on the order. Sorting the data helps
// none of them.
const ordered = `
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
#define BARRIER __asm__ volatile("")
// A bit of a range decoder, as LZMA's, with its state in registers.
u32 range_bits(u16 *probs, const u8 *in, int bits, u32 code, u32 range) {
	u32 symbol = 1;
	do {
		if (range < 1 << 24) { range <<= 8; code = code << 8 | *in++; }
		u32 bound = (range >> 11) * probs[symbol];
		if (code < bound) { range = bound; probs[symbol] += (2048 - probs[symbol]) >> 5; symbol <<= 1; BARRIER; }
		else { range -= bound; code -= bound; probs[symbol] -= probs[symbol] >> 5; symbol = symbol << 1 | 1; BARRIER; }
	} while (symbol < 1u << bits);
	return symbol;
}
// The same with its state in memory.
struct range { u32 code, range; const u8 *in; };
u32 range_state(struct range *r, u16 *probs, int n) {
	u32 sum = 0;
	for (int i = 0; i < n; i++) {
		u32 bound = (r->range >> 11) * probs[i];
		if (r->code < bound) { r->range = bound; sum++; BARRIER; }
		else { r->range -= bound; r->code -= bound; BARRIER; }
	}
	return sum;
}
// Huffman codes, a bit at a time through a tree, and by the length of codes.
int huffman_tree(const short (*tree)[2], const u8 *in, u8 *out, int bits) {
	int node = 0, n = 0;
	for (int i = 0; i < bits; i++) {
		int bit = in[i >> 3] >> (i & 7) & 1;
		if (bit) { node = tree[node][1]; BARRIER; }
		else { node = tree[node][0]; BARRIER; }
		if (node < 0) { out[n++] = ~node; node = 0; }
	}
	return n;
}
int huffman_lengths(const u16 *count, const u8 *in, int bits) {
	int code = 0, first = 0, index = 0, sum = 0, len = 1;
	for (int i = 0; i < bits; i++) {
		code |= in[i >> 3] >> (i & 7) & 1;
		int n = count[len];
		if (code - n < first) { sum += index + code - first; code = first = index = 0; len = 1; continue; }
		index += n; first = (first + n) << 1; code <<= 1; len++;
	}
	return sum;
}
// base64: each character is an element, but what is written depends on the order.
int base64(const signed char *table, const u8 *in, u8 *out, int n) {
	u32 bits = 0; int have = 0, o = 0;
	for (int i = 0; i < n; i++) {
		int v = table[in[i]];
		if (v < 0) { BARRIER; continue; }
		bits = bits << 6 | v; have += 6;
		if (have >= 8) { have -= 8; out[o++] = bits >> have; }
	}
	return o;
}
void hex(const u8 *in, u8 *out, int n) {
	for (int i = 0; i < n; i++) {
		u8 c = in[i];
		if (c >= 'a') { out[i] = c - 'a' + 10; BARRIER; }
		else { out[i] = c - '0'; BARRIER; }
	}
}
// Sequences of LZ4: where the next one starts depends on this one.
const u8 *lz4(const u8 *in, const u8 *end, u8 *out) {
	while (in < end) {
		u32 token = *in++, literals = token >> 4, match = token & 15;
		if (literals == 15) { u32 more; do { more = *in++; literals += more; } while (more == 255); }
		for (u32 i = 0; i < literals; i++) *out++ = *in++;
		u32 offset = in[0] | in[1] << 8; in += 2;
		if (match == 15) { u32 more; do { more = *in++; match += more; } while (more == 255); }
		for (u32 i = 0; i < match + 4; i++, out++) *out = out[-(long)offset];
	}
	return out;
}
u64 varints(const u8 *in, const u8 *end) {
	u64 sum = 0, value = 0; int shift = 0;
	for (; in < end; in++) {
		value |= (u64)(*in & 127) << shift;
		if (*in & 128) { shift += 7; BARRIER; }
		else { sum += value; value = 0; shift = 0; BARRIER; }
	}
	return sum;
}
// Sorts and what they are made of.
int partition(int *v, int n, int pivot) {
	int store = 0;
	for (int i = 0; i < n; i++)
		if (v[i] < pivot) { int x = v[i]; v[i] = v[store]; v[store++] = x; }
	return store;
}
void bubble(int *v, int n) {
	for (int i = 0; i + 1 < n; i++)
		if (v[i] > v[i + 1]) { int x = v[i]; v[i] = v[i + 1]; v[i + 1] = x; BARRIER; }
}
void exchange(int *v, int *w, int n) {
	for (int i = 0; i < n; i++)
		if (v[i] > w[i]) { int x = v[i]; v[i] = w[i]; w[i] = x; BARRIER; }
}
void merge(const int *a, const int *b, int *out, int n) {
	for (int i = 0; i < n; i++)
		if (*a <= *b) { *out++ = *a++; BARRIER; } else { *out++ = *b++; BARRIER; }
}
void insertion(int *v, int n) {
	for (int i = 1; i < n; i++) {
		int x = v[i], k = i;
		while (k > 0 && v[k - 1] > x) { v[k] = v[k - 1]; k--; }
		v[k] = x;
	}
}
void sift(int *v, int n) {
	for (int i = 0; 2 * i + 1 < n;) {
		int child = 2 * i + 1;
		if (child + 1 < n && v[child + 1] > v[child]) { child++; BARRIER; }
		if (v[i] >= v[child]) break;
		int x = v[i]; v[i] = v[child]; v[child] = x; i = child;
	}
}
// Searches.
int search(const int *v, int n, int key) {
	int low = 0;
	while (n > 1) { int half = n / 2; if (v[low + half] <= key) { low += half; BARRIER; } n -= half; }
	return low;
}
struct node { struct node *next[2]; int key; };
int walk(struct node *t, int key) {
	int depth = 0;
	while (t) { depth++; if (t->key < key) { t = t->next[1]; BARRIER; } else { t = t->next[0]; BARRIER; } }
	return depth;
}
int probe(const u32 *table, u32 mask, u32 key) {
	u32 at = key; int n = 0;
	while (table[at & mask]) { if (table[at & mask] == key) { n++; BARRIER; } at += n + 1; }
	return n;
}
// Parsers, and what is written one after the other.
int words(const u8 *s, int n) {
	int in = 0, count = 0;
	for (int i = 0; i < n; i++) {
		if (s[i] == ' ') { in = 0; BARRIER; }
		else { if (!in) { count++; BARRIER; } in = 1; }
	}
	return count;
}
int runs(const u8 *s, int n) {
	int count = 0, before = -1;
	for (int i = 0; i < n; i++) { if (s[i] != before) { count++; BARRIER; } before = s[i]; }
	return count;
}
long escaped(const u8 *s, const u8 *end) {
	long n = 0;
	for (; s < end; s++) { if (*s == 92) { s++; n += 3; BARRIER; } n++; }
	return n;
}
int filter(const int *v, int n, int limit, int *out) {
	int o = 0;
	for (int i = 0; i < n; i++) if (v[i] > limit) { out[o++] = v[i]; BARRIER; }
	return o;
}
void casefold(u8 *s, int n) {
	for (int i = 0; i < n; i++) if (s[i] >= 'A' && s[i] <= 'Z') { s[i] += 32; BARRIER; }
}
int last(const int *v, int n, int limit) {
	int found = -1;
	for (int i = 0; i < n; i++) if (v[i] > limit) { found = v[i]; BARRIER; }
	return found;
}
int first(const int *v, const int *w, int n, int limit) {
	int sum = 0;
	for (int i = 0; i < n; i++) {
		if (v[i] > limit) { sum += 7 / (limit + 1); BARRIER; }
		if (w[i] == limit) break;
	}
	return sum;
}
long until(const u8 *s, long limit) {
	long sum = 0;
	for (; *s; s++) if (*s > limit) { sum += *s / limit; BARRIER; }
	return sum;
}
int nextState(const u8 (*table)[256], const u8 *s, int n) {
	int state = 0, n1 = 0;
	for (int i = 0; i < n; i++) { state = table[state][s[i]]; if (state > 3) { n1 += 3; BARRIER; } }
	return n1;
}
int emit(const u8 *s, int n, void (*put)(int)) {
	for (int i = 0; i < n; i++) if (s[i] > 99) { put(s[i]); put(0); }
	return n;
}
int main(int argc, char **argv) { return argc; }
`

// TestOrdered checks for all branches of these loops that no advice is to sort, and that
// nothing is said of what is not understood.
func TestOrdered(t *testing.T) {
	var names []string
	for line := range strings.Lines(ordered) {
		if head, _, ok := strings.Cut(line, "("); ok && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "//") && strings.HasSuffix(strings.TrimSpace(line), "{") && !strings.HasPrefix(line, "int main") {
			names = append(names, strings.TrimLeft(head[strings.LastIndexByte(head, ' ')+1:], "*"))
		}
	}
	if len(names) < 25 {
		t.Fatalf("%d functions: %q", len(names), names)
	}
	for _, compiler := range [][]string{
		{"gcc", "-O1"},
		{"gcc", "-O2"},
		{"gcc", "-O3"},
		{"clang", "-O2"},
		{"clang", "--target=aarch64-linux-gnu", "-O2", "-ffreestanding", "-nostdlib", "-fuse-ld=lld", "-Wl,-e,main"},
	} {
		t.Run(strings.Join(compiler[:2], " "), func(t *testing.T) {
			dir := t.TempDir()
			source, program := filepath.Join(dir, "app.c"), filepath.Join(dir, "app")
			if err := os.WriteFile(source, []byte(ordered), 0o666); err != nil {
				t.Fatal(err)
			}
			branchtest.RunTool(t, compiler[0], append(compiler[1:], "-g", "-fno-inline", "-o", program, source)...)
			said := 0
			for _, name := range names {
				list, lines := branchesOf(t, program, "/app", name)
				table := &branch.Table{Tier: branch.TierStacks, Scaled: true}
				for _, b := range list {
					a := adviceBranch(branch.Conditional, 0.4, 0.5)
					a.Address = b.Address
					table.Branches = append(table.Branches, a)
				}
				Add(table, objectstest.Dir(dir))
				for i := range table.Branches {
					b := &table.Branches[i]
					if b.Advice == nil {
						continue
					}
					said++
					if b.Advice.ID == branch.SortData || strings.Contains(b.Advice.Text, "sort") || !b.Advice.CodeSeen {
						t.Errorf("%s, line %d: %s, %s", name, lines[b.Address], b.Advice.ID, b.Advice.Text)
					}
				}
			}
			if said == 0 {
				t.Error("nothing is said of any branch")
			}
		})
	}
}
