// As inline.c.
use std::sync::atomic::{AtomicU32, Ordering};

static SINK: AtomicU32 = AtomicU32::new(0);

#[inline(always)]
fn leaf_inlined(x: u32) -> u32 {
    SINK.store(x, Ordering::SeqCst);
    x.wrapping_mul(7) // line of leaf_inlined
}

#[inline(always)]
fn mid_inlined(x: u32) -> u32 {
    let y = x ^ 0x55;
    leaf_inlined(y) + 1 // call of leaf_inlined
}

#[inline(never)]
#[no_mangle]
pub fn outer(x: u32) -> u32 {
    let r = x.wrapping_sub(3);
    mid_inlined(r) ^ 3 // call of mid_inlined
}

fn main() {
    println!("{}", outer(std::env::args().count() as u32));
}
