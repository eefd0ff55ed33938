//! Finds sessions in a hash table with linear probing. The unit is a lookup.

use programs::sessions::{asked, known, slot, SLOTS};

struct Table {
    keys: Vec<u32>,
    values: Vec<u32>,
}

impl Table {
    fn insert(&mut self, key: u32, value: u32) {
        let mut at = slot(key, 0x9e3779b1);
        while self.values[at] != 0 {
            at = (at + 1) % SLOTS;
        }
        (self.keys[at], self.values[at]) = (key, value);
    }

    #[inline(always)]
    fn get(&self, key: u32) -> u32 {
        let mut at = slot(key, 0x9e3779b1);
        loop {
            if self.keys[at] == key || self.values[at] == 0 {
                return self.values[at]; // 0: unknown
            }
            at = (at + 1) % SLOTS;
        }
    }
}

#[inline(never)]
fn sum(table: &Table, asked: &[u32]) -> u64 {
    asked.iter().map(|&key| u64::from(table.get(key))).sum()
}

fn main() {
    let mut table = Table { keys: vec![0; SLOTS], values: vec![0; SLOTS] };
    let known = known();
    let mut last = std::collections::HashMap::new();
    for &(key, value) in &known {
        last.insert(key, value);
    }
    for (key, value) in known.iter().filter(|(key, value)| last[key] == *value) {
        table.insert(*key, *value);
    }
    let asked = asked(&known);
    programs::run(asked.len(), || sum(&table, &asked));
}
