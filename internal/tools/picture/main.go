// Picture makes a picture of a report, as that in the README:
//
//	go run ./cmd/profdiff diff … --html profdiff-report.html
//	go -C internal/tools run ./picture $PWD/profdiff-report.html#view=flame $PWD/testdata/report.png
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"profdiff/internal/tools/browser"
)

func main() {
	width := flag.Int64("width", 1280, "`PIXELS` of the window")
	height := flag.Int64("height", 1250, "`PIXELS` of the window")
	dark := flag.Bool("dark", false, "in the dark")
	forced := flag.Bool("forced", false, "in the colors of the user")
	static := flag.Bool("static", false, "without scripts")
	media := flag.String("media", "", "`MEDIUM`, as print")
	whole := flag.Bool("whole", false, "all of the page, beyond the window, too")
	flag.Parse()
	opt := browser.Options{Width: *width, Height: *height, Dark: *dark, ForcedColors: *forced, NoScript: *static, Media: *media}
	if err := write(flag.Args(), opt, *whole); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func write(args []string, opt browser.Options, whole bool) error {
	if len(args) != 2 {
		return errors.New("usage: picture [flags] REPORT[#FRAGMENT] PICTURE")
	}
	name, fragment, _ := strings.Cut(args[0], "#")
	path, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	p, err := browser.Open(context.Background(), "file://"+path+"#"+fragment, opt)
	if err != nil {
		return err
	}
	defer p.Close()
	shot, err := p.Screenshot(whole)
	if err != nil {
		return err
	}
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, paletted(img)); err != nil {
		return err
	}
	return os.WriteFile(args[1], out.Bytes(), 0o666)
}

// paletted keeps the 256 colors that most pixels have. Others become the nearest of them:
// a page has few colors, except at the edges of letters.
func paletted(img image.Image) *image.Paletted {
	count := make(map[color.RGBA]int)
	b := img.Bounds()
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA) }
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	var colors []color.RGBA
	for c := range count {
		colors = append(colors, c)
	}
	number := func(c color.RGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }
	slices.SortFunc(colors, func(a, b color.RGBA) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return number(a) - number(b)
	})
	var p color.Palette
	for _, c := range colors[:min(len(colors), 256)] {
		p = append(p, c)
	}
	out := image.NewPaletted(b, p)
	nearest := make(map[color.RGBA]uint8)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := at(x, y)
			i, ok := nearest[c]
			if !ok {
				i = uint8(p.Index(c))
				nearest[c] = i
			}
			out.SetColorIndex(x, y, i)
		}
	}
	return out
}
