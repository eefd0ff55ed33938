//! The distance of names by the crate edit-distance. The unit is a comparison of two characters.

fn main() {
    let pairs = programs::names::pairs();
    programs::run(pairs.cells, || {
        pairs.list.iter().fold(0, |sum, (a, b)| (sum ^ edit_distance::edit_distance(a, b) as u64).wrapping_mul(0x100000001b3))
    });
}
