// Starts renderers of several installs of an app, one after the other, and measures how
// long each takes until it is ready. A renderer runs as a user of its own, which owns
// nothing. It needs the app's code, DEX files in ART's words:
//
//   base.apk    the DEX file, compressed
//   base.vdex   the DEX file as it is, and a note that it was verified
//
// A renderer that can read base.vdex maps it. One that cannot unpacks base.apk and
// verifies what it gets: checksum, strings, tables, and every instruction.
//
// There is one build. Two folders of installs differ in one permission bit of one install:
//
//   before   base.vdex of the first install is readable for its owner and group only
//   after    all are readable for all
//
//   usage: renderer-start prepare DIR           makes DIR/before and DIR/after
//          renderer-start run DIR/SIDE VALUES   writes the start times to VALUES/NN.txt
//          renderer-start renderer INSTALL FD   is a renderer; it tells FD when it is ready

#define _GNU_SOURCE // setresuid

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

enum {
	installs = 10,
	rounds = 24, // starts of each install
	isolated_user = 99000,

	strings = 12000,
	types = 4000,
	methods = 16000,
	most_instructions = 48, // of a method
	most_registers = 16,

	min_match = 4,
	max_match = min_match + 127,
	max_literals = 128,
};

// A DEX file: the header, the offsets of the strings, their bytes, types, methods, and
// the instructions of all methods. Everything is little-endian and a multiple of 4 bytes.
struct header {
	char magic[8];
	uint32_t checksum; // of all that follows
	uint32_t size;
	uint32_t string_count, string_offset;
	uint32_t text_size, text_offset;
	uint32_t type_count, type_offset;
	uint32_t method_count, method_offset;
	uint32_t code_size, code_offset; // in instructions
};

struct method {
	uint32_t type, name;
	uint32_t code, count; // first instruction, number of them
	uint32_t registers;
};

// What the index of an instruction means depends on its opcode.
enum opcode { op_move, op_const_string, op_new_instance, op_invoke, op_goto, op_return, opcodes };

struct instruction {
	uint8_t opcode, reg;
	uint16_t unused;
	uint32_t index;
};

struct vdex {
	char magic[8];
	uint32_t verified, checksum; // of the DEX file, which follows
};

static const char dex_magic[8] = "dex\n039";
static const char vdex_magic[8] = "vdex021";

static void die(const char *what)
{
	fprintf(stderr, "renderer-start: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint32_t next_random(uint64_t *state)
{
	uint64_t x = *state;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return (uint32_t)(x >> 32);
}

// checksum is Adler-32.
NOINLINE static uint32_t checksum(const uint8_t *data, size_t size)
{
	const uint32_t modulus = 65521;
	uint32_t a = 1, b = 0;
	while (size > 0) {
		size_t n = size < 5552 ? size : 5552;
		size -= n;
		while (n-- > 0) {
			a += *data++;
			b += a;
		}
		a %= modulus;
		b %= modulus;
	}
	return b << 16 | a;
}

// Compression: a byte below 128 is the number of literals that follow, less one; others
// are the length of a match, less min_match, and its distance in two bytes.

static size_t compress(const uint8_t *in, size_t size, uint8_t *out)
{
	static uint32_t seen[1 << 16]; // position + 1 of each hash
	size_t n = 0, literal = 0, at = 0;
	while (at < size) {
		size_t length = 0, distance = 0;
		if (at + min_match <= size) {
			uint32_t word;
			memcpy(&word, in + at, sizeof word);
			uint32_t hash = word * 2654435761u >> 16;
			size_t before = seen[hash];
			seen[hash] = (uint32_t)at + 1;
			if (before > 0 && at - (before - 1) < 1 << 16) {
				distance = at - (before - 1);
				while (length < max_match && at + length < size && in[at + length] == in[at + length - distance])
					length++;
			}
		}
		bool match = length >= min_match;
		if (literal < at && (match || at - literal == max_literals)) {
			out[n++] = (uint8_t)(at - literal - 1);
			memcpy(out + n, in + literal, at - literal);
			n += at - literal;
			literal = at;
		}
		if (match) {
			out[n++] = (uint8_t)(128 | (length - min_match));
			out[n++] = (uint8_t)distance;
			out[n++] = (uint8_t)(distance >> 8);
			at += length;
			literal = at;
		} else {
			at++;
		}
	}
	if (literal < at) {
		out[n++] = (uint8_t)(at - literal - 1);
		memcpy(out + n, in + literal, at - literal);
		n += at - literal;
	}
	return n;
}

// unpack returns false if what is packed is not whole.
NOINLINE static bool unpack(const uint8_t *in, size_t packed, uint8_t *out, size_t size)
{
	size_t at = 0, n = 0;
	while (at < packed) {
		size_t length = in[at++];
		if (length < 128) {
			length++;
			if (length > packed - at || length > size - n)
				return false;
			memcpy(out + n, in + at, length);
			at += length;
			n += length;
			continue;
		}
		length = (length & 127) + min_match;
		if (packed - at < 2 || length > size - n)
			return false;
		size_t distance = in[at] | (size_t)in[at + 1] << 8;
		at += 2;
		if (distance == 0 || distance > n)
			return false;
		for (size_t end = n + length; n < end; n++)
			out[n] = out[n - distance];
	}
	return n == size;
}

// A dex is a DEX file in memory.
struct dex {
	const struct header *header;
	const uint32_t *string_offsets; // in text
	const uint8_t *text;            // each string ends with 0
	const uint32_t *type_names;
	const struct method *methods;
	const struct instruction *code;
};

static struct dex open_dex(const uint8_t *data)
{
	const struct header *h = (const struct header *)data;
	return (struct dex){
		.header = h,
		.string_offsets = (const uint32_t *)(data + h->string_offset),
		.text = data + h->text_offset,
		.type_names = (const uint32_t *)(data + h->type_offset),
		.methods = (const struct method *)(data + h->method_offset),
		.code = (const struct instruction *)(data + h->code_offset),
	};
}

static bool inside(const struct header *h, uint32_t offset, uint32_t count, size_t size)
{
	return offset % 4 == 0 && offset >= sizeof *h && offset <= h->size && count <= (h->size - offset) / size;
}

NOINLINE static bool verify_header(const uint8_t *data, size_t size)
{
	const struct header *h = (const struct header *)data;
	return size >= sizeof *h && memcmp(h->magic, dex_magic, sizeof dex_magic) == 0 && h->size == size &&
		inside(h, h->string_offset, h->string_count, sizeof(uint32_t)) &&
		inside(h, h->text_offset, h->text_size, 1) &&
		inside(h, h->type_offset, h->type_count, sizeof(uint32_t)) &&
		inside(h, h->method_offset, h->method_count, sizeof(struct method)) &&
		inside(h, h->code_offset, h->code_size, sizeof(struct instruction)) &&
		h->checksum == checksum(data + offsetof(struct header, size), size - offsetof(struct header, size));
}

// verify_strings checks that strings are inside, of printable characters, and sorted.
NOINLINE static bool verify_strings(const struct dex *d)
{
	const uint8_t *previous = NULL;
	for (uint32_t i = 0; i < d->header->string_count; i++) {
		uint32_t at = d->string_offsets[i];
		if (at >= d->header->text_size)
			return false;
		const uint8_t *s = d->text + at;
		for (; d->text[at] != 0; at++)
			if (d->text[at] < ' ' || d->text[at] > '~' || at + 1 == d->header->text_size)
				return false;
		if (previous != NULL && strcmp((const char *)previous, (const char *)s) >= 0)
			return false;
		previous = s;
	}
	return true;
}

NOINLINE static bool verify_tables(const struct dex *d)
{
	const struct header *h = d->header;
	for (uint32_t i = 0; i < h->type_count; i++)
		if (d->type_names[i] >= h->string_count)
			return false;
	for (uint32_t i = 0; i < h->method_count; i++) {
		const struct method *m = &d->methods[i];
		if (m->type >= h->type_count || m->name >= h->string_count || m->registers > most_registers)
			return false;
		if (m->code > h->code_size || m->count > h->code_size - m->code)
			return false;
	}
	return true;
}

// verify_method checks each instruction, and that the last one leaves the method.
NOINLINE static bool verify_method(const struct dex *d, const struct method *m)
{
	const struct header *h = d->header;
	bool initialized[most_registers] = {false};
	for (uint32_t i = 0; i < m->count; i++) {
		const struct instruction *in = &d->code[m->code + i];
		if (in->reg >= m->registers || in->unused != 0)
			return false;
		switch (in->opcode) {
		case op_move:
			if (in->index >= m->registers || !initialized[in->index])
				return false;
			initialized[in->reg] = true;
			break;
		case op_const_string:
			if (in->index >= h->string_count)
				return false;
			initialized[in->reg] = true;
			break;
		case op_new_instance:
			if (in->index >= h->type_count)
				return false;
			initialized[in->reg] = true;
			break;
		case op_invoke:
			if (in->index >= h->method_count || !initialized[in->reg])
				return false;
			break;
		case op_goto:
			if (in->index >= m->count)
				return false;
			break;
		case op_return:
			if (!initialized[in->reg])
				return false;
			break;
		default:
			return false;
		}
	}
	return m->count > 0 && d->code[m->code + m->count - 1].opcode == op_return;
}

NOINLINE static bool verify_code(const struct dex *d)
{
	for (uint32_t i = 0; i < d->header->method_count; i++)
		if (!verify_method(d, &d->methods[i]))
			return false;
	return true;
}

NOINLINE static bool verify_dex(const uint8_t *data, size_t size)
{
	if (!verify_header(data, size))
		return false;
	struct dex d = open_dex(data);
	return verify_strings(&d) && verify_tables(&d) && verify_code(&d);
}

// map_file maps a file, or returns NULL if it may not be read.
static const uint8_t *map_file(const char *dir, const char *name, size_t *size)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == EACCES)
			return NULL;
		die(path);
	}
	struct stat st;
	if (fstat(fd, &st) != 0)
		die(path);
	*size = (size_t)st.st_size;
	const uint8_t *data = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		die(path);
	close(fd);
	return data;
}

// open_verified returns the DEX file of an install that was verified before, or NULL.
NOINLINE static const uint8_t *open_verified(const char *install)
{
	size_t size;
	const uint8_t *data = map_file(install, "base.vdex", &size);
	if (data == NULL)
		return NULL;
	const struct vdex *v = (const struct vdex *)data;
	if (size < sizeof *v + sizeof(struct header) || memcmp(v->magic, vdex_magic, sizeof vdex_magic) != 0 || !v->verified)
		return NULL;
	const struct header *h = (const struct header *)(data + sizeof *v);
	return h->checksum == v->checksum && h->size == size - sizeof *v ? data + sizeof *v : NULL;
}

// open_from_apk unpacks and verifies the DEX file of an install.
NOINLINE static const uint8_t *open_from_apk(const char *install)
{
	size_t packed;
	const uint8_t *apk = map_file(install, "base.apk", &packed);
	if (apk == NULL || packed < sizeof(uint32_t))
		die("base.apk");
	uint32_t size;
	memcpy(&size, apk, sizeof size);
	uint8_t *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		die("memory");
	errno = EINVAL;
	if (!unpack(apk + sizeof size, packed - sizeof size, data, size) || !verify_dex(data, size))
		die("base.apk");
	return data;
}

// load_classes enters the types and methods that the start needs into tables, as the
// class linker does. Every renderer does it.
NOINLINE static uint64_t load_classes(const struct dex *d)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < d->header->type_count; i++) {
		uint64_t hash = 14695981039346656037u;
		for (const uint8_t *s = d->text + d->string_offsets[d->type_names[i]]; *s != 0; s++)
			hash = (hash ^ *s) * 1099511628211u;
		sum += hash;
	}
	for (uint32_t i = 0; i < d->header->method_count; i += 8) {
		const struct method *m = &d->methods[i];
		sum ^= (uint64_t)d->code[m->code].index << 32 | m->count;
	}
	return sum;
}

// renderer is a process that starts; it says by fd what it has loaded.
static int renderer(const char *install, int fd)
{
	prctl(PR_SET_NAME, "renderer");
	if (setgroups(0, NULL) != 0 || setresgid(isolated_user, isolated_user, isolated_user) != 0 ||
	    setresuid(isolated_user, isolated_user, isolated_user) != 0)
		die("user of a renderer");
	const uint8_t *data = open_verified(install);
	if (data == NULL)
		data = open_from_apk(install);
	struct dex d = open_dex(data);
	uint64_t sum = load_classes(&d);
	if (write(fd, &sum, sizeof sum) != sizeof sum)
		die("pipe");
	return 0;
}

static double microseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

// start starts a renderer and returns how long it takes until it is ready.
NOINLINE static double start(const char *self, const char *install, uint64_t *sum)
{
	int fds[2];
	if (pipe(fds) != 0)
		die("pipe");
	double began = microseconds();
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		char fd[16];
		close(fds[0]);
		snprintf(fd, sizeof fd, "%d", fds[1]);
		execl(self, self, "renderer", install, fd, (char *)NULL);
		die(self);
	}
	close(fds[1]);
	uint64_t loaded;
	errno = EPIPE;
	if (read(fds[0], &loaded, sizeof loaded) != sizeof loaded)
		die(install);
	double took = microseconds() - began;
	close(fds[0]);
	int status;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		die(install);
	*sum = *sum * 31 + loaded;
	return took;
}

// open_values creates the first file NN.txt that is not there.
static FILE *open_values(const char *dir)
{
	for (int n = 1; n < 1000; n++) {
		char path[4096];
		snprintf(path, sizeof path, "%s/%02d.txt", dir, n);
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd >= 0)
			return fdopen(fd, "w");
		if (errno != EEXIST)
			die(path);
	}
	die(dir);
	return NULL;
}

static int run(const char *self, const char *dir, const char *values)
{
	FILE *out = open_values(values);
	uint64_t sum = 0;
	for (int i = 0; i < rounds * installs; i++) {
		char install[4096];
		snprintf(install, sizeof install, "%s/%02d", dir, i % installs);
		fprintf(out, "%.0f\n", start(self, install, &sum));
	}
	if (fclose(out) != 0)
		die(values);
	printf("starts %d\nchecksum %llu\n", rounds * installs, (unsigned long long)(sum >> 12)); // fits a double
	return 0;
}

// make_dex makes a DEX file of pseudo-random content that passes verification.
static uint8_t *make_dex(size_t *size)
{
	static const char *const syllables[] = {"an", "bar", "con", "dex", "er", "fra", "get", "hi", "in", "jo", "ka", "lo", "me", "no", "op", "re"};
	uint64_t random = 88172645463325252u;
	const size_t most = 64 << 20;
	uint8_t *data = calloc(1, most);
	uint32_t at = sizeof(struct header);
	struct header h = {.string_count = strings, .type_count = types, .method_count = methods, .string_offset = at};
	memcpy(h.magic, dex_magic, sizeof h.magic);

	at += strings * sizeof(uint32_t);
	h.text_offset = at;
	uint32_t *string_offsets = (uint32_t *)(data + h.string_offset);
	for (uint32_t i = 0; i < strings; i++) { // a counter in front sorts them
		string_offsets[i] = at - h.text_offset;
		at += (uint32_t)sprintf((char *)data + at, "L%05x/", i);
		for (uint32_t n = 2 + next_random(&random) % 8; n > 0; n--)
			at += (uint32_t)sprintf((char *)data + at, "%s", syllables[next_random(&random) % 16]);
		at++;
	}
	h.text_size = at - h.text_offset;
	at = (at + 3) & ~3u;

	h.type_offset = at;
	for (uint32_t i = 0; i < types; i++)
		((uint32_t *)(data + at))[i] = i * (strings / types);
	at += types * sizeof(uint32_t);

	h.method_offset = at;
	struct method *m = (struct method *)(data + at);
	at += methods * sizeof *m;
	h.code_offset = at;
	struct instruction *code = (struct instruction *)(data + at);
	for (uint32_t i = 0; i < methods; i++, m++) {
		*m = (struct method){
			.type = i % types, .name = next_random(&random) % strings, .code = h.code_size,
			.count = 2 + next_random(&random) % (most_instructions - 1), .registers = 2 + next_random(&random) % (most_registers - 1),
		};
		for (uint32_t k = 0; k < m->count; k++) {
			struct instruction *in = &code[h.code_size++];
			in->opcode = (uint8_t)(k == 0 ? op_const_string : k + 1 == m->count ? op_return : next_random(&random) % op_return);
			in->reg = (uint8_t)(in->opcode == op_invoke || k == 0 || k + 1 == m->count ? 0 : next_random(&random) % m->registers);
			switch (in->opcode) {
			case op_const_string: in->index = next_random(&random) % strings; break;
			case op_new_instance: in->index = next_random(&random) % types; break;
			case op_invoke: in->index = next_random(&random) % methods; break;
			case op_goto: in->index = next_random(&random) % m->count; break;
			}
		}
	}
	at += h.code_size * (uint32_t)sizeof *code;
	h.size = at;
	memcpy(data, &h, sizeof h);
	const size_t checked = offsetof(struct header, size);
	((struct header *)data)->checksum = checksum(data + checked, at - checked);
	if (at > most || !verify_dex(data, at)) {
		errno = EINVAL;
		die("DEX file");
	}
	*size = at;
	return data;
}

static void write_file(const char *path, const void *head, size_t head_size, const void *data, size_t size, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, head, head_size) != (ssize_t)head_size || write(fd, data, size) != (ssize_t)size ||
	    fchmod(fd, mode) != 0 || close(fd) != 0)
		die(path);
}

static int prepare(const char *dir)
{
	struct stat st;
	if (stat(dir, &st) == 0)
		return 0; // it was done before an earlier run
	size_t size;
	uint8_t *data = make_dex(&size);
	uint8_t *packed = malloc(2 * size);
	size_t packed_size = compress(data, size, packed);
	uint32_t unpacked = (uint32_t)size;
	struct vdex v = {.verified = 1, .checksum = ((struct header *)data)->checksum};
	memcpy(v.magic, vdex_magic, sizeof v.magic);

	umask(0);
	if (mkdir(dir, 0755) != 0 || chdir(dir) != 0)
		die(dir);
	write_file("base.apk", &unpacked, sizeof unpacked, packed, packed_size, 0644);
	write_file("base.vdex", &v, sizeof v, data, size, 0644);
	write_file("private.vdex", &v, sizeof v, data, size, 0640);
	static const char *const sides[] = {"before", "after"};
	for (int side = 0; side < 2; side++) {
		char path[64];
		if (mkdir(sides[side], 0755) != 0)
			die(sides[side]);
		for (int i = 0; i < installs; i++) {
			bool profile = side == 0 && i == 0; // compiled with a profile
			snprintf(path, sizeof path, "%s/%02d", sides[side], i);
			if (mkdir(path, 0755) != 0)
				die(path);
			snprintf(path, sizeof path, "%s/%02d/base.apk", sides[side], i);
			if (link("base.apk", path) != 0)
				die(path);
			snprintf(path, sizeof path, "%s/%02d/base.vdex", sides[side], i);
			if (link(profile ? "private.vdex" : "base.vdex", path) != 0)
				die(path);
		}
	}
	sync();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "prepare") == 0)
		return prepare(argv[2]);
	if (argc == 4 && strcmp(argv[1], "run") == 0)
		return run(argv[0], argv[2], argv[3]);
	if (argc == 4 && strcmp(argv[1], "renderer") == 0)
		return renderer(argv[2], atoi(argv[3]));
	fprintf(stderr, "usage: renderer-start prepare DIR | run DIR/SIDE VALUES | renderer INSTALL FD\n");
	return 2;
}
