//! The distance of names by the crate strsim.

fn main() {
    let pairs = programs::names::pairs();
    programs::run(pairs.cells, || {
        pairs.list.iter().fold(0, |sum, (a, b)| (sum ^ strsim::levenshtein(a, b) as u64).wrapping_mul(0x100000001b3))
    });
}
