// Compiled twice, with and without cfg(edited), see lambdas.cc.

// std::hint::black_box is younger than the compilers of some distributions.
#[inline(always)]
fn black_box(x: u64) -> u64 {
    unsafe { std::ptr::read_volatile(&x) }
}

#[inline(never)]
fn each<F: Fn(u64) -> u64>(f: F, n: u64) -> u64 {
    let mut s = 0;
    for i in 0..n {
        s += f(black_box(i));
    }
    s
}

#[inline(never)]
fn scatter(x: u64) -> u64 {
    black_box(x ^ 5)
}

#[inline(never)]
fn rotate(x: u64) -> u64 {
    black_box(x << 3)
}

macro_rules! fnv {
    ($name:ident) => {
        #[inline(never)]
        fn $name(x: u64) -> u64 {
            rotate(x) + scatter(black_box(x))
        }
    };
}
#[cfg(not(edited))]
fnv!(fnv_v1);
#[cfg(edited)]
fnv!(fnv_v2);

fn main() {
    let n = std::env::args().count() as u64;
    let k = black_box(n);
    let mut s = 0;
    #[cfg(edited)]
    {
        s += each(|x| black_box(x * k), n);
    }
    s += each(|x| scatter(x + k), n);
    s += each(|x| rotate(x * k), n);
    #[cfg(not(edited))]
    {
        s += fnv_v1(s);
    }
    #[cfg(edited)]
    {
        s += fnv_v2(s);
    }
    println!("{}", s);
}
