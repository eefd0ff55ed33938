package perffile

import "io"

// TextOptions say what is printed of a recording.
type TextOptions struct {
	// AllowTruncated prints what there is of a recording that ends too early.
	AllowTruncated bool
	// Memory prints the registers and the stacks that samples hold. They are memory of the
	// programs that were recorded, with whatever secrets these had at hand.
	Memory bool
}

// WriteText prints the recording in src, a file or the output of perf record -o -, as
// text that says what every byte of it is: the recording can be made of it again, byte
// for byte, which Build of the package perffiletest does. The text is for reading recordings, for comparing them with diff and
// grep, and for writing small ones by hand:
//
//	header
//	attr type=hardware config=0 sample_type=IP|TID|TIME|PERIOD flags=freq|sample_id_all
//	COMM pid=7 tid=7 comm="cat" sample_id={pid=7,tid=7,time=1000}
//	SAMPLE misc=USER ip=0x401000 pid=7 tid=7 time=2000 period=300
//	feature HOSTNAME hostname="box"
//
// A line is an item; all of a record is on one line. Blank lines and what follows a
// word that starts with # are for the reader.
//
//	line   = [ "|" ] [ place ] keyword [ word ] { name "=" value } .
//	place  = [ "@" number ] [ "+" number ] .        offset in the file, and size
//	value  = number | names | string | bytes | list | struct .
//	number = decimal | "0x" hexadecimal .           a decimal may be negative
//	names  = name { "|" name } .                    a name may be a number
//	string = as in Go, in double quotes .
//	bytes  = pairs of hexadecimal digits, or nothing, or withheld .
//	list   = "[" [ value { "," value } ] "]", or withheld .
//	withheld = "?" decimal .                        that many bytes, or elements
//	struct = "{" [ name "=" value { "," name "=" value } ] "}" .
//
// Addresses, offsets and masks are hexadecimal; sizes, counts, ids and times are
// decimal. Fields have the names that the C structs have. Enumerations and bits have
// the names of the C constants without their prefix, and are numbers where there is
// none. In a call chain the PERF_CONTEXT_ markers are written as such.
//
// Keywords:
//
//	header           the file header; "header pipe" starts what perf
//	                 record -o - writes. byte_order is little or big, word_size
//	                 the size of words of the bitmap of features (4 on 32-bit
//	                 machines, big-endian only)
//	attr             an event, in a file; ids are its ids, at ids_offset
//	event_type       an entry of the event_types section (before Linux 3.11)
//	MMAP, SAMPLE, …  a record, by the name of its type
//	RECORD           a record of another type, type=N
//	hex BYTES        anything else: data after AUXTRACE and HEADER_TRACING_DATA
//	                 records, contents of features, gaps between sections
//	section FEATURE  an entry of the table of features
//	feature FEATURE  a feature: with its fields, or without and followed by hex
//	                 lines or by those of its parts
//	build_id         an entry of BUILD_ID
//	meta             an entry of META_INFO
//	file, symbol, dex_file, elf_file, kernel_module
//	                 a file of FILE, then its symbols, then what depends on its type
//	file2, symbol2, dex_file2, elf_file2, kernel_module2
//	                 likewise of FILE2, whose fields may be absent
//
// Some fields do not stand for themselves:
//
//	event      number of the attr that a record of the kernel belongs to; if there
//	           are several
//	sample_id  what ends records other than SAMPLE, if the attr has sample_id_all
//	tail       bytes that follow the fields of the item
//	raw        all bytes of the item, of a record those after its header
//
// A string that is padded with zeros is written without them. If it holds a NUL it is
// written with all that there is. The size of a list or of bytes is not written, since
// it shows.
//
// When text is parsed, items without an offset follow each other, and what is left out
// is computed or zero: sizes, the header's sections, the table of features, the id of a
// record (the first one of the event). A count or size that is there is taken as it
// is, so that it may lie: "+4 SAMPLE" is a SAMPLE record whose header says 4 bytes.
// The names of the counts are in record.go, sample.go and feature.go of perffiletest.
// Lines with a | below a COMPRESSED record without data are
// compressed into it.
//
// The writer prints all of that. Where an item has bytes that its fields do not stand
// for, such as padding that is not zero, it writes raw=BYTES and what it could decode
// as a comment. Records out of compressed ones and records in pieces
// are comments below the lines that hold their bytes.
//
// Without opt.Memory, registers and stacks are withheld, and with them what holds such
// records in another form: compressed, in pieces, or damaged. A recording cannot be made of
// such text.
//
// The error comes from [New] or [File.Records]; what precedes the damage has been
// written then. With opt.AllowTruncated, what cannot be taken apart is written as
// hex lines, and a recording that ends too early is no error.
func WriteText(w io.Writer, src io.ReaderAt, size int64, opt TextOptions) error {
	t := newTextWriter(w, opt)
	return t.close(t.file(src, size))
}

// WriteTextPipe is WriteText for a recording that comes from a pipe.
func WriteTextPipe(w io.Writer, src io.Reader, opt TextOptions) error {
	f, err := NewPipe(src, opt.reading())
	if err != nil {
		return err
	}
	t := newTextWriter(w, opt)
	return t.close(t.pipe(f))
}

func (opt TextOptions) reading() Options { return Options{AllowTruncated: opt.AllowTruncated} }
