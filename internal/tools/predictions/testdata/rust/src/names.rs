//! Names of streets, and how somebody may have typed them.

use crate::Random;

pub struct Pairs {
    pub list: Vec<(String, String)>,
    /// Comparisons of a character with a character.
    pub cells: usize,
}

const PARTS: [&str; 16] = [
    "upper ", "saint ", "martin's ", "old ", "mill ", "church ", "river", "field ", "king", "ston ", "bridge", "wood ", "lane",
    "street", "terrace", "avenue",
];

pub fn pairs() -> Pairs {
    let mut random = Random::new();
    let name = |random: &mut Random| -> String {
        (0..3 + random.below(4)).map(|_| PARTS[random.below(16) as usize]).collect()
    };
    let mut pairs = Pairs { list: Vec::new(), cells: 0 };
    for _ in 0..512 {
        let wanted = name(&mut random);
        let typed = if random.below(2) == 0 {
            name(&mut random)
        } else {
            let mut letters: Vec<char> = wanted.chars().collect();
            for _ in 0..random.below(5) {
                let at = random.below(letters.len() as u32) as usize;
                match random.below(3) {
                    0 => drop(letters.remove(at)),
                    1 => letters.insert(at, (b'a' + random.below(26) as u8) as char),
                    _ => letters[at] = (b'a' + random.below(26) as u8) as char,
                }
            }
            letters.into_iter().collect()
        };
        pairs.cells += wanted.len() * typed.len();
        pairs.list.push((wanted, typed));
    }
    pairs
}
