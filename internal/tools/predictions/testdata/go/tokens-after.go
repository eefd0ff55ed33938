package main

// classes of all bytes.
var classes = func() (table [256]uint8) {
	for c := range table {
		switch c := byte(c); {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_':
			table[c] = letter
		case c >= '0' && c <= '9':
			table[c] = digit
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			table[c] = space
		default:
			table[c] = sign
		}
	}
	return table
}()

// A step is what a class means after another: the class that counts, and 4 if a token begins.
var steps = func() (table [16]uint8) {
	for before := range 4 {
		for now := range 4 {
			class := now
			if now == digit && before == letter {
				class = letter
			}
			step := uint8(class)
			if class != space && (class != before || class == sign) {
				step |= 4
			}
			table[before<<2|now] = step
		}
	}
	return table
}()

// tokens looks up what each byte is.
func tokens(text []byte) int {
	n, before := 0, uint8(space)
	for _, c := range text {
		step := steps[(before<<2|classes[c])&15]
		n += int(step >> 2)
		before = step & 3
	}
	return n
}
