// As inline.c, with names to be mangled and qualified.
namespace shop {
volatile int sink;

class Cart {
public:
	explicit Cart(int n) : n_(n) {}
	__attribute__((noinline)) int outer(int x);

private:
	__attribute__((always_inline)) int mid_inlined(int x) {
		int y = x ^ n_;
		return leaf_inlined(y) + 1; // call of leaf_inlined
	}
	__attribute__((always_inline)) static int leaf_inlined(int x) {
		sink = x; // line of leaf_inlined
		return x * sink + 7;
	}
	int n_;
};

int Cart::outer(int x) {
	int r = x - 3;
	r += mid_inlined(r); // call of mid_inlined
	return r * 3;
}
} // namespace shop

int main(int argc, char **) {
	shop::Cart c(argc);
	return c.outer(argc) == 42;
}
