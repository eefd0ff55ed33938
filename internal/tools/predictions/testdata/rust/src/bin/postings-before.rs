//! Lists the documents of a bitmap: every bit is asked. The unit is a word of 64 bits.

#[inline(never)]
fn documents(words: &[u64], out: &mut [u32]) -> usize {
    let mut n = 0;
    for (i, &word) in words.iter().enumerate() {
        for bit in 0..64 {
            if word >> bit & 1 == 1 {
                out[n] = (i * 64 + bit) as u32;
                n += 1;
            }
        }
    }
    n
}

fn main() {
    let words = programs::postings::words();
    let mut out = vec![0; words.len() * 64];
    programs::run(words.len(), || {
        let n = documents(&words, &mut out);
        (n as u64) << 32 ^ u64::from(out[n - 1] ^ out[n / 2])
    });
}
