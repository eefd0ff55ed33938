//! Lists the documents of a bitmap: from a set bit to the next.

#[inline(never)]
fn documents(words: &[u64], out: &mut [u32]) -> usize {
    let mut n = 0;
    for (i, &word) in words.iter().enumerate() {
        let mut left = word;
        while left != 0 {
            out[n] = (i * 64) as u32 + left.trailing_zeros();
            n += 1;
            left &= left - 1;
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
