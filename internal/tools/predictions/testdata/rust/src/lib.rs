//! The program around a change, as ../program.c is in C.

pub mod names;
pub mod postings;
pub mod sessions;

use std::io::Read;
use std::time::{Duration, Instant};

/// Sebastiano Vigna's SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new() -> Random {
        Random(1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        ((self.next() >> 32) * u64::from(limit) >> 32) as u32
    }
}

impl Default for Random {
    fn default() -> Random {
        Random::new()
    }
}

/// Does what the arguments say with passes of so many units of work.
pub fn run(units: usize, mut pass: impl FnMut() -> u64) {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let number: f64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(0.0);
    let mut sum = 0;
    match mode.as_str() {
        "units" => println!("{units}"),
        "steps" => {
            for _ in std::io::stdin().bytes() {
                pass(); // what the other program had in the caches comes back
                let start = Instant::now();
                sum = pass();
                println!("{} {sum:016x}", start.elapsed().as_nanos());
            }
        }
        "passes" => {
            for _ in 0..number as usize {
                sum = pass();
            }
            println!("{sum:016x}");
        }
        "seconds" => {
            let start = Instant::now();
            let mut n = 0;
            while start.elapsed() < Duration::from_secs_f64(number) {
                pass();
                n += 1;
            }
            println!("{n}");
        }
        _ => panic!("usage: seconds S|passes N|steps|units"),
    }
}
