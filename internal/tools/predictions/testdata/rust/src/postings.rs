//! Documents that have a word, as bits: most words of 64 have none or few, some are full.

use crate::Random;

pub fn words() -> Vec<u64> {
    let mut random = Random::new();
    (0..16384)
        .map(|_| match random.below(10) {
            0..=3 => 0,
            4..=7 => random.next() & random.next() & random.next(),
            8 => random.next() & random.next(),
            _ => random.next() | random.next(),
        })
        .collect()
}
