// Which boxes does a ray hit? The unit is a box.
#include "../program.h"

#include <algorithm>
#include <vector>

struct Box {
	float low[3], high[3];
};

struct Ray {
	float origin[3], inverse[3]; // one divided by the direction
};

static std::vector<Box> boxes;
static std::vector<Ray> rays;

static float uniform(float low, float high)
{
	return low + (high - low) * float(random_next() >> 40) * 0x1p-24f;
}

extern "C" size_t prepare(const char *, size_t)
{
	for (int i = 0; i < 2048; i++) {
		Box b;
		for (int k = 0; k < 3; k++) {
			b.low[k] = uniform(-10, 10);
			b.high[k] = b.low[k] + uniform(0.5f, 9);
		}
		boxes.push_back(b);
	}
	for (int i = 0; i < 64; i++) {
		Ray r;
		for (int k = 0; k < 3; k++) {
			r.origin[k] = uniform(-14, 14);
			r.inverse[k] = 1 / uniform(-1, 1);
		}
		rays.push_back(r);
	}
	return boxes.size() * rays.size();
}

#ifdef AFTER
__attribute__((noinline)) static unsigned hits(const Ray &r, const std::vector<Box> &all)
{
	unsigned n = 0;
	for (const Box &b : all) {
		float near = 0, far = 1e30f;
		for (int k = 0; k < 3; k++) {
			float a = (b.low[k] - r.origin[k]) * r.inverse[k];
			float c = (b.high[k] - r.origin[k]) * r.inverse[k];
			near = std::max(near, std::min(a, c));
			far = std::min(far, std::max(a, c));
		}
		n += near <= far;
	}
	return n;
}
#else
__attribute__((noinline)) static unsigned hits(const Ray &r, const std::vector<Box> &all)
{
	unsigned n = 0;
	for (const Box &b : all) {
		float near = 0, far = 1e30f;
		bool hit = true;
		for (int k = 0; k < 3; k++) {
			float a = (b.low[k] - r.origin[k]) * r.inverse[k];
			float c = (b.high[k] - r.origin[k]) * r.inverse[k];
			if (a > c)
				std::swap(a, c);
			if (a > near)
				near = a;
			if (c < far)
				far = c;
			if (near > far) {
				hit = false;
				break;
			}
		}
		if (hit)
			n++;
	}
	return n;
}
#endif

extern "C" uint64_t pass()
{
	uint64_t sum = 0;
	for (const Ray &r : rays)
		sum = sum * 31 + hits(r, boxes);
	return sum;
}
