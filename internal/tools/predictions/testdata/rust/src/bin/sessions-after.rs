//! Finds sessions in a hash table where a key has two slots, and nowhere else to be.

use programs::sessions::{asked, known, slot, SLOTS};

const MULTIPLIERS: [u32; 2] = [0x9e3779b1, 0x85ebca77];

struct Table {
    keys: Vec<u32>,
    values: Vec<u32>,
}

impl Table {
    fn insert(&mut self, key: u32, value: u32) {
        let mut entry = (key, value);
        let mut at = slot(key, MULTIPLIERS[0]);
        for _ in 0..1000 {
            let other = (self.keys[at], self.values[at]);
            (self.keys[at], self.values[at]) = entry;
            if other.1 == 0 {
                return;
            }
            entry = other;
            at ^= slot(entry.0, MULTIPLIERS[0]) ^ slot(entry.0, MULTIPLIERS[1]);
        }
        panic!("too full");
    }

    #[inline(always)]
    fn get(&self, key: u32) -> u32 {
        let (a, b) = (slot(key, MULTIPLIERS[0]), slot(key, MULTIPLIERS[1]));
        let first = self.values[a] & u32::from(self.keys[a] == key).wrapping_neg();
        let second = self.values[b] & u32::from(self.keys[b] == key).wrapping_neg();
        first | second // 0: unknown
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
