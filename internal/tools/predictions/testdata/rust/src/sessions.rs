//! Sessions by their numbers, and numbers that are asked for: half of them are known.

use crate::Random;

pub const SLOTS: usize = 1 << 13;

pub fn known() -> Vec<(u32, u32)> {
    let mut random = Random::new();
    (0..SLOTS as u32 * 2 / 5).map(|n| (random.next() as u32 | 1, n + 1)).collect()
}

pub fn asked(known: &[(u32, u32)]) -> Vec<u32> {
    let mut random = Random::new();
    (0..65536)
        .map(|_| match random.below(2) {
            0 => known[random.below(known.len() as u32) as usize].0,
            _ => random.next() as u32 & !1,
        })
        .collect()
}

/// Slot of a key; the second hash is of other bits.
pub fn slot(key: u32, multiplier: u32) -> usize {
    (key.wrapping_mul(multiplier) >> 19) as usize
}
